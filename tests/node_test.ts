import { assertEquals } from "@std/assert";
import { makeCertificate } from "./kit/certificates.ts";
import { bundle } from "../tools/bundle.ts";
import { hasVectors, packInputs } from "./ship/testdata/platform_inputs.ts";
import {
  startPlatformServers,
  TLS_NAME,
} from "./ship/testdata/platform_servers.ts";
import { npmPackages } from "./kit/npm_packages.ts";
import { hasProgram, isCi, run, tempFolder } from "./kit/process.ts";

const packages = await npmPackages(["node@22"]);

/** What this machine lacks for the test. */
const missing = [
  ...hasVectors() ? [] : ["the test vectors"],
  ...hasProgram("openssl") ? [] : ["openssl"],
  ...packages === undefined ? ["Node 22"] : [],
];

Deno.test({
  name: "core, jose and consumer behave in Node 22 as in Deno",
  ignore: missing.length > 0 && !isCi,
  fn: async () => {
    assertEquals(missing, []);
    const certificate = await makeCertificate(`DNS:${TLS_NAME}`);
    await using running = await startPlatformServers(certificate);
    await using folder = await tempFolder();
    const inputs = `${folder.path}/inputs.json`;
    const program = `${folder.path}/suites.mjs`;
    const packed = await packInputs(running.servers);
    await Deno.writeTextFile(inputs, JSON.stringify(packed));
    const code = await bundle("tools/platform_suites/node_main.ts");
    await Deno.writeTextFile(program, code);
    const ran = await run(`${packages}/.bin/node`, [program, inputs]);
    const lines = ran.stdout.trimEnd().split("\n");
    assertEquals(lines.filter((line) => !line.startsWith("ok ")), []);
    assertEquals(lines.map((line) => line.slice(3).split(":")[0]), [
      "jsontestsuite",
      "timestamps",
      "didweb",
      "base64url",
      "envelopes (node",
      "envelopes (WebCrypto)",
      "wycheproof (node",
      "wycheproof (WebCrypto)",
      "feeds",
      "questions",
      "invitations",
      "fetching",
      "continuity",
      "TLS",
      "prototype pollution",
    ], ran.stderr);
    assertEquals(ran.code, 0, ran.stdout + ran.stderr);
  },
});
