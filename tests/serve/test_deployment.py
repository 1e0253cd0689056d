"""The examples in deploy, compared with what the gateway takes, listens on and answers."""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from starlette.routing import Match
from tests.serve.running import settings_for

from darc.cli.commands import read_settings
from darc.serve.app import make_gateway
from darc.serve.routes import GatewayRoutes
from darc.serve.settings import ServeSettings
from darc.settings.serve import ServeCommandSettings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
DEPLOYMENT, SERVICE = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
UNIT = (DEPLOY / "darc.service").read_text()
PORT = ServeCommandSettings().port
GRACE = ServeCommandSettings().grace


def program(name: str, package: str) -> str:
    """The path of a program; without it the test is skipped."""
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    if path is None:
        pytest.skip(f"{name} is not installed (Debian: {package})")
    return path


def entrypoint() -> list[str]:
    """The command of the image."""
    found = re.search(r"^ENTRYPOINT (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert found is not None
    command: list[str] = json.loads(found[1])
    return command


def parsed(command: list[str]) -> ServeCommandSettings:
    """The settings of a command line, by the parser of `darc serve`."""
    assert Path(command[0]).name == "darc"
    settings: ServeCommandSettings = read_settings(command[1:])
    return settings


def is_served(path: str) -> bool:
    """Whether the gateway has a route of its own for a path."""
    gateway = make_gateway(settings_for(None, backend="http://127.0.0.1:9"))
    scope = {"type": "http", "method": "GET", "path": path, "headers": []}
    routes = [route for route in GatewayRoutes(gateway).all() if "rest" not in route.path]
    return any(route.matches(scope)[0] is Match.FULL for route in routes)


def check_usual_choice(settings: ServeCommandSettings) -> None:
    """The default rule and the default panel, not a judge on rewrites."""
    assert settings.rule == ServeSettings().rule == "auto"
    assert not settings.scorers
    assert not settings.panel


def test_the_image_listens_where_it_says() -> None:
    settings = parsed(entrypoint())
    assert (settings.host, settings.port) == ("0.0.0.0", PORT)
    assert f"EXPOSE {PORT}" in DOCKERFILE
    probe = re.search(r"http://127\.0\.0\.1:(\d+)(/\w+)", DOCKERFILE)
    assert probe is not None
    assert int(probe[1]) == PORT
    assert is_served(probe[2])


def test_compose_runs_the_usual_choice() -> None:
    service = COMPOSE["gateway"]
    settings = parsed([*entrypoint(), *service["command"]])
    check_usual_choice(settings)
    assert service["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    model = COMPOSE["model"]
    (backend,) = settings.backend
    assert backend == f"http://model:{model['command'][-1]}/v1"
    assert model["expose"] == [model["command"][-1]]
    assert settings.audit is not None
    assert settings.audit.parent == Path("/data")
    assert float(service["stop_grace_period"].removesuffix("s")) > GRACE


def test_compose_has_the_vllm_that_is_tested() -> None:
    version = re.search(r"^VLLM := (\S+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert version is not None
    assert COMPOSE["model"]["image"] == f"vllm/vllm-openai:v{version[1]}"


def test_kubernetes_probes_and_names_fit() -> None:
    spec = DEPLOYMENT["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    settings = parsed([*entrypoint(), *container["args"]])
    check_usual_choice(settings)
    (port,) = container["ports"]
    assert port["containerPort"] == settings.port
    paths = {
        name: container[name]["httpGet"]["path"] for name in ("readinessProbe", "livenessProbe")
    }
    assert paths == {"readinessProbe": "/readyz", "livenessProbe": "/healthz"}
    for name, path in paths.items():
        assert is_served(path)
        assert container[name]["httpGet"]["port"] == port["name"]
    assert spec["terminationGracePeriodSeconds"] > GRACE
    assert spec["securityContext"]["runAsUser"] == int(
        re.findall(r"^USER (\d+)$", DOCKERFILE, re.MULTILINE)[0]
    )
    volumes = {volume["name"] for volume in spec["volumes"]}
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert set(mounts) == volumes
    assert settings.api_keys is not None
    assert str(settings.api_keys.parent) == mounts["keys"]
    labels = DEPLOYMENT["spec"]["template"]["metadata"]["labels"]
    assert SERVICE["spec"]["selector"] == DEPLOYMENT["spec"]["selector"]["matchLabels"] == labels
    (service_port,) = SERVICE["spec"]["ports"]
    assert service_port["targetPort"] == port["name"]
    assert SERVICE["metadata"]["name"] in settings.allowed_hosts


def unit_value(name: str) -> str:
    found = re.search(rf"^{name}=(.+)$", UNIT, re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_unit_starts_reloads_and_stops_the_gateway(tmp_path: Path) -> None:
    config = tmp_path / "darc.toml"
    config.write_text('[serve]\nbackend = ["http://127.0.0.1:9/v1"]\nk = 8\n')
    command = shlex.split(unit_value("ExecStart").replace("/etc/darc/darc.toml", str(config)))
    settings = parsed(command)
    check_usual_choice(settings)
    assert settings.k == 8
    assert settings.audit is not None
    assert settings.audit.parent == Path("/var/lib") / unit_value("StateDirectory")
    assert unit_value("ExecReload").endswith("-HUP $MAINPID")
    assert float(unit_value("TimeoutStopSec")) > GRACE


def test_proxies_pass_streams_on_as_they_come() -> None:
    nginx = (DEPLOY / "nginx.conf").read_text()
    caddy = (DEPLOY / "Caddyfile").read_text()
    assert re.search(r"^\s*proxy_buffering off;$", nginx, re.MULTILINE)
    assert re.search(r"^\s*flush_interval -1$", caddy, re.MULTILINE)
    assert f"proxy_pass http://127.0.0.1:{PORT};" in nginx
    assert f"reverse_proxy 127.0.0.1:{PORT} {{" in caddy
    assert "proxy_set_header Host $host;" in nginx
    for text in (nginx, caddy):
        flags = re.findall(r"#   (--.+)$", text, re.MULTILINE)
        settings = parsed(["darc", "serve", *shlex.split(flags[0])])
        assert settings.allowed_hosts == ("darc.example.org",)
        assert settings.trusted_proxies == ("127.0.0.1",)


def test_the_first_example_of_the_guide_makes_the_usual_choice() -> None:
    guide = (ROOT / "docs" / "gateway.md").read_text()
    blocks = re.findall(r"```(\w+)\n(.*?)```", guide, re.DOTALL)
    (_, shell), (_, python) = blocks[:2]
    command = next(line for line in shell.splitlines() if line.startswith("darc "))
    check_usual_choice(parsed(shlex.split(command)))
    assert 'model="MODEL"' in python
    assert '"rule"' not in python


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    systemd = program("systemd-analyze", "systemd")
    path = tmp_path / "darc.service"
    darc = Path(sys.executable).with_name("darc")
    path.write_text(UNIT.replace("/opt/darc/bin/darc", str(darc)))
    result = subprocess.run([systemd, "verify", path], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "darc.service" not in result.stderr


def test_nginx_accepts_the_example(tmp_path: Path) -> None:
    nginx = program("nginx", "nginx-light")
    openssl = program("openssl", "openssl")
    certificate = tmp_path / "darc.pem"
    key = tmp_path / "darc.key"
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=darc.example.org",
         "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    server = (DEPLOY / "nginx.conf").read_text()
    for old, new in {
        "/etc/ssl/certs/darc.pem": str(certificate),
        "/etc/ssl/private/darc.key": str(key),
        "listen 443": f"listen 127.0.0.1:{port}",
    }.items():
        assert old in server
        server = server.replace(old, new)
    path = tmp_path / "nginx.conf"
    around = f"pid {tmp_path}/pid;\nerror_log stderr;\nevents {{}}\n"
    path.write_text(f"{around}http {{\naccess_log off;\n{server}}}\n")
    subprocess.run([nginx, "-t", "-c", path, "-p", tmp_path], check=True)


def test_caddy_accepts_the_example(tmp_path: Path) -> None:
    caddy = program("caddy", "caddy")
    environment: dict[str, Any] = {**os.environ, "HOME": str(tmp_path)}
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        environment[name] = str(tmp_path)
    command = [caddy, "validate", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")]
    subprocess.run(command, check=True, env=environment)
