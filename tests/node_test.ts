import { assertEquals } from "@std/assert";
import { hasOpenssl, makeCertificate } from "./kit/certificates.ts";
import { bundle } from "../tools/bundle.ts";
import { hasVectors, packInputs } from "./ship/testdata/platform_inputs.ts";
import {
  startPlatformServers,
  TLS_NAME,
} from "./ship/testdata/platform_servers.ts";
import { isCi, type Ran, run, tempFolder } from "./kit/process.ts";

/** Runs Node 22 through npm; it need not be installed. */
function node(...args: string[]): Promise<Ran> {
  return run("npx", ["-y", "node@22", ...args]);
}

/** Returns what this machine lacks for the test; undefined if nothing. */
async function findMissing(): Promise<string | undefined> {
  if (!hasVectors()) return "the test vectors are not there";
  if (!hasOpenssl()) return "there is no openssl";
  try {
    const { code, stdout } = await node("--version");
    if (code === 0 && stdout.startsWith("v22.")) return undefined;
  } catch {
    // npx is not installed.
  }
  return "Node 22 can't be run";
}

const missing = await findMissing();

Deno.test({
  name: "core, jose and consumer behave in Node 22 as in Deno",
  ignore: missing !== undefined && !isCi,
  fn: async () => {
    assertEquals(missing, undefined);
    const certificate = await makeCertificate(`DNS:${TLS_NAME}`);
    await using running = await startPlatformServers(certificate);
    await using folder = await tempFolder();
    const inputs = `${folder.path}/inputs.json`;
    const program = `${folder.path}/suites.mjs`;
    const packed = await packInputs(running.servers);
    await Deno.writeTextFile(inputs, JSON.stringify(packed));
    const code = await bundle("tools/platform_suites/node_main.ts");
    await Deno.writeTextFile(program, code);
    const ran = await node(program, inputs);
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
