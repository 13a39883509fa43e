# The gateway and the tracing proxy. Crates are fetched once from the lock file; the build itself has no network.
FROM rust:1-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo fetch --locked
RUN --network=none cargo build --release --offline --locked -p gateway --features gateway/redis -p traces --bin gateway --bin acp-traces

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/target/release/gateway /src/target/release/acp-traces /usr/local/bin/
USER 65532:65532
EXPOSE 8787
ENTRYPOINT ["gateway"]
