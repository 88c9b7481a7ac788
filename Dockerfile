# A plain image: slim Python, the locked packages, a non-root user. See docs/operations.md.
FROM python:3.11-slim AS build
WORKDIR /src
RUN python -m venv /opt/yardmaster
COPY requirements-charts.lock ./
RUN /opt/yardmaster/bin/pip install --no-cache-dir --require-hashes -r requirements-charts.lock
COPY pyproject.toml README.md LICENSE ./
COPY go_templates go_templates
COPY collectors collectors
COPY alerts alerts
COPY commands commands
COPY bot bot
RUN /opt/yardmaster/bin/pip install --no-cache-dir --no-deps .

FROM python:3.11-slim
RUN groupadd --gid 65532 yardmaster \
    && useradd --uid 65532 --gid 65532 --no-create-home --home-dir /var/lib/yardmaster yardmaster \
    && install -d -o 65532 -g 65532 /var/lib/yardmaster
COPY --from=build /opt/yardmaster /opt/yardmaster
ENV PATH=/opt/yardmaster/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
WORKDIR /var/lib/yardmaster
EXPOSE 9099
ENTRYPOINT ["yardmaster"]
CMD ["run", "--config", "/etc/yardmaster/settings/settings.yaml"]
