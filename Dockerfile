# The visual proof service: non-root, read-only root file system, scratch on tmpfs.
FROM debian:12-slim AS build
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY requirements-server.txt requirements-rapidocr.txt ./
RUN python3 -m venv /opt/visualproof \
 && /opt/visualproof/bin/pip install --no-cache-dir -r requirements-server.txt \
 && /opt/visualproof/bin/pip install --no-cache-dir --no-deps -r requirements-rapidocr.txt
COPY client client
COPY server server
RUN /opt/visualproof/bin/pip install --no-cache-dir --no-deps ./client ./server

FROM debian:12-slim
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      bubblewrap python3 tesseract-ocr tesseract-ocr-eng tesseract-ocr-deu tesseract-ocr-osd poppler-utils \
      libgl1 libglib2.0-0 fonts-dejavu-core fonts-droid-fallback fonts-unifont tini \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --create-home --home-dir /data visualproof
COPY --from=build /opt/visualproof /opt/visualproof
ENV PATH=/opt/visualproof/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    VISUALPROOF_DATA_DIR=/data \
    VISUALPROOF_LISTEN=0.0.0.0:50051
USER 10001
VOLUME /data
EXPOSE 50051
ENTRYPOINT ["tini", "--", "visualproof-server"]
