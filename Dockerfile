# The visual proof service: non-root, read-only root file system, scratch on tmpfs.
#
#   docker build -t visualproof-server .                  all of it: RapidOCR, object stores, Dask, traces
#   docker build -t visualproof-server:slim --target slim .   Tesseract, a data folder, signatures
#
# A release names the base by its digest: --build-arg BASE=debian:12-slim@sha256:...
ARG BASE=debian:12-slim
FROM ${BASE} AS build-slim
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY requirements-slim.txt ./
RUN python3 -m venv /opt/visualproof \
 && /opt/visualproof/bin/pip install --no-cache-dir -r requirements-slim.txt
# Both packages link to these.
COPY LICENSE VERSION ./
COPY client client
COPY server server
RUN /opt/visualproof/bin/pip install --no-cache-dir --no-deps ./client ./server

FROM build-slim AS build
COPY requirements-server.txt requirements-rapidocr.txt ./
RUN /opt/visualproof/bin/pip install --no-cache-dir -r requirements-server.txt \
 && /opt/visualproof/bin/pip install --no-cache-dir --no-deps -r requirements-rapidocr.txt

FROM ${BASE} AS runtime
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      bubblewrap python3 tesseract-ocr tesseract-ocr-eng tesseract-ocr-deu tesseract-ocr-osd poppler-utils \
      libgl1 libglib2.0-0 fonts-dejavu-core fonts-droid-fallback fonts-unifont tini \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --create-home --home-dir /data visualproof
ENV PATH=/opt/visualproof/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    VISUALPROOF_DATA_DIR=/data \
    VISUALPROOF_LISTEN=0.0.0.0:50051
LABEL org.opencontainers.image.title="visualproof-server" \
      org.opencontainers.image.description="Where does the document say so, and does it really?" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0"
USER 10001
VOLUME /data
EXPOSE 50051
# With TLS it needs VISUALPROOF_HEALTH_CA, and VISUALPROOF_HEALTH_NAME where the name is not localhost.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["visualproof-health"]
ENTRYPOINT ["tini", "--", "visualproof-server"]

FROM runtime AS slim
COPY --from=build-slim /opt/visualproof /opt/visualproof

FROM runtime AS full
COPY --from=build /opt/visualproof /opt/visualproof
