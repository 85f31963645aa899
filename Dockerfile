# PostgreSQL with gnngp:  docker build --build-arg PG=17 -t postgres-gnngp .
#
# The image is that of PostgreSQL with OpenBLAS and the extension's files; the
# compiler stays in the first stage.  It has no GPU library.

ARG PG=17

FROM postgres:${PG} AS build
RUN apt-get update && \
    apt-get install -y --no-install-recommends gcc libc6-dev make "postgresql-server-dev-$PG_MAJOR"
COPY . /src
RUN export PG_CONFIG="/usr/lib/postgresql/$PG_MAJOR/bin/pg_config" && \
    make -C /src clean && \
    make -C /src -j "$(nproc)" && \
    make -C /src install DESTDIR=/out

FROM postgres:${PG}
RUN apt-get update && \
    apt-get install -y --no-install-recommends libopenblas0-pthread && \
    rm -rf /var/lib/apt/lists/*
COPY --from=build /out/ /
