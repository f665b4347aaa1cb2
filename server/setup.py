"""What pyproject.toml cannot say: the server needs the client of its own version."""

from pathlib import Path

from setuptools import setup

VERSION = (Path(__file__).parent / "VERSION").read_text().strip()

setup(
    install_requires=[
        f"visualproof=={VERSION}",
        "babel>=2.14",
        "fonttools>=4.50",
        "grpcio>=1.71",
        "grpcio-health-checking>=1.71",
        "grpcio-reflection>=1.71",
        "lxml>=5",
        "numpy>=1.26",
        "opencv-python>=4.9",
        "pdf2image>=1.17",
        "pikepdf>=9",
        "prometheus-client>=0.20",
        "pillow>=10.3",
        "protobuf>=5.29",
        "pypdfium2>=4.30",
        "pytesseract>=0.3.13",
        "python-stdnum>=1.20",
        "rapidfuzz>=3.9",
        "num2words>=0.5.13",
    ]
)
