# PostgreSQL with gnngp:  docker build --build-arg PG=18 -t postgres-gnngp .
#
# The image is that of PostgreSQL with OpenBLAS and the extension's files; the
# compiler stays in the first stage.  It has no GPU library.
#
# The target "extension" holds the extension's files and OpenBLAS alone, as /share and /lib, for
# servers that mount it and set extension_control_path (PostgreSQL 18, CloudNativePG):
#
#   docker build --target extension -t gnngp-extension .

ARG PG=18

FROM postgres:${PG} AS build
RUN apt-get update && \
    apt-get install -y --no-install-recommends gcc libc6-dev libopenblas0-pthread make \
        "postgresql-server-dev-$PG_MAJOR"
COPY . /src
RUN export PG_CONFIG="/usr/lib/postgresql/$PG_MAJOR/bin/pg_config" && \
    make -C /src clean && \
    make -C /src -j "$(nproc)" && \
    make -C /src install DESTDIR=/out && \
    make -C /src extension-image DEST=/extension

FROM scratch AS extension
COPY --from=build /extension/ /

FROM postgres:${PG} AS server
RUN apt-get update && \
    apt-get install -y --no-install-recommends libopenblas0-pthread && \
    rm -rf /var/lib/apt/lists/*
COPY --from=build /out/ /
HEALTHCHECK --interval=10s --timeout=5s --retries=6 \
    CMD pg_isready -q -U "${POSTGRES_USER:-postgres}" -d "${POSTGRES_DB:-${POSTGRES_USER:-postgres}}"
