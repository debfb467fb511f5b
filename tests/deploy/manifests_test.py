#!/usr/bin/python3
"""deploy/compose.yaml and kubernetes.yaml against their schemas, and against the image that they start.

  manifests_test.py [NAME...]    names as of unittest

The schemas are in check-jsonschema and kubernetes-validate of PyPI: nothing else of the network is needed, and no
cluster. Tests of a schema are skipped without these.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/tools")]
sys.dont_write_bytecode = True

import pypi_program  # noqa: E402

DEPLOY = ROOT / "deploy"
IMAGE = (DEPLOY / "Containerfile").read_text()
PORT = int(re.search(r"(?m)^EXPOSE (\d+)$", IMAGE)[1])
USER = int(re.search(r"u lookout (\d+)", IMAGE)[1])


class ManifestsTest(unittest.TestCase):
    def check(self, package, program, *arguments):
        try:
            command = pypi_program.install(package, program)
        except pypi_program.Unavailable as reason:
            self.skipTest(str(reason))
        done = subprocess.run([command, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_schema_of_compose(self):
        self.check(
            "check-jsonschema==0.39.0", "check-jsonschema",
            "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml",
        )  # fmt: skip

    def test_schema_of_kubernetes(self):
        self.check("kubernetes-validate==1.37.0", "kubernetes-validate", "--strict", DEPLOY / "kubernetes.yaml")

    def test_compose_starts_the_image(self):
        compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
        lookout = compose["services"]["lookout"]
        self.assertIn(f"/run/secrets/{lookout['secrets'][0]}", IMAGE)
        self.assertEqual(lookout["ports"], [f"127.0.0.1:{PORT}:{PORT}"])
        self.assertEqual(lookout["environment"]["LOOKOUT_MQTT_URL"], "mqtt://" + lookout["depends_on"][0])
        reference = (ROOT / "app/reference.md").read_text()
        for name in lookout["environment"]:
            self.assertIn(f"`{name}`", reference)

    @unittest.skipUnless(
        os.geteuid() == 0 and shutil.which("mosquitto") and shutil.which("setpriv"), "needs root, mosquitto and setpriv"
    )
    def test_the_broker_runs_with_the_rights_of_compose(self):
        broker = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["broker"]
        self.assertEqual(broker["cap_drop"], ["ALL"])
        user, group = broker.get("user", "0:0").split(":")
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)
            config = pathlib.Path(folder) / "mosquitto.conf"
            config.write_text(f"listener 0 {folder}/socket\nallow_anonymous true\n")
            with subprocess.Popen(
                [
                    "setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", "--no-new-privs",
                    "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all",
                    "mosquitto", "-c", config,
                ],
                stderr=subprocess.PIPE, text=True,
            ) as process:  # fmt: skip
                told = ""
                for line in process.stderr:
                    told += line
                    if line.endswith(" running\n"):
                        break
                process.kill()  # at its start a signal that asks is forgotten
        self.assertRegex(told, "(?m) running$")

    def test_kubernetes_starts_the_image(self):
        documents = {
            document["kind"]: document
            for document in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
        }
        pod = documents["Deployment"]["spec"]["template"]
        self.assertEqual(pod["spec"]["securityContext"]["runAsUser"], USER)
        (container,) = pod["spec"]["containers"]
        self.assertEqual([port["containerPort"] for port in container["ports"]], [PORT])
        self.assertIn(f"--http=0.0.0.0:{PORT}", container["args"])
        mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
        self.assertIn("--set=http.token-file=/run/secrets/lookout/token", container["args"])
        self.assertIn("/run/secrets/lookout", mounts)
        self.assertEqual(set(mounts.values()), {volume["name"] for volume in pod["spec"]["volumes"]})
        service = documents["Service"]
        for selector in (
            documents["Deployment"]["spec"]["selector"]["matchLabels"],
            documents["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
            service["spec"]["selector"],
        ):
            self.assertEqual(selector, pod["metadata"]["labels"])
        (rule,) = documents["Ingress"]["spec"]["rules"]
        backend = rule["http"]["paths"][0]["backend"]["service"]
        self.assertEqual(backend["name"], service["metadata"]["name"])
        hosts = next(argument for argument in container["args"] if "http.hosts" in argument)
        host = documents["Ingress"]["metadata"]["annotations"]["nginx.ingress.kubernetes.io/upstream-vhost"]
        self.assertIn(host, hosts.rpartition("=")[2].split(","))


if __name__ == "__main__":
    unittest.main(verbosity=2)
