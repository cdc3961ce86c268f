import { generateSigningKey, importSigningKey, jwkToSshKey } from "@sig/jose";
import { isSigError } from "@sig/core";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { makeKey, startAgent, withOpenSsh } from "../../tests/kit/open_ssh.ts";
import { tempFolder } from "../../tests/kit/process.ts";
import {
  type AgentAnswer,
  join,
  listOf,
  startFakeAgent,
  string,
  uint32,
} from "../testdata/fake_agent.ts";
import { draftsOf, inWorkspace } from "../testdata/workspace.ts";
import type { Output } from "../output/write.ts";
import { createDenoIo } from "../terminal/deno_io.ts";
import type { Io } from "../terminal/io.ts";
import { findAgentKey } from "./agent_key.ts";

// promise: A key in ssh-agent leaves no private key on disk, and no other key
//   signs instead.

const UPSERT =
  "upsert --dir $D/acme --type other --role x --subject did:web:alice.example";

/** Finds the fingerprint of the agent's key that has this comment. */
async function fingerprintOf(
  agent: Awaited<ReturnType<typeof startAgent>>,
  comment: string,
): Promise<string> {
  const keys = await agent.sshAdd("-l");
  return new RegExp(`SHA256:\\S+(?= ${comment})`).exec(keys)![0];
}

withOpenSsh(
  "an issuer signs with a key in ssh-agent, without a private key on disk",
  () =>
    inWorkspace(async (workspace) => {
      await using folder = await tempFolder();
      await using agent = await startAgent(folder.path);
      const given = { env: { SSH_AUTH_SOCK: agent.socket } };
      // stderr is not empty: a second upsert warns about the first
      // relationship.
      const upsert = async (words = "", env = {}) => {
        const all = { env: { ...given.env, ...env } };
        const { stderr } = await workspace.says(`${UPSERT} ${words}`, all);
        return stderr;
      };
      await agent.add(
        await makeKey(folder.path, "rsa", ["rsa", "-b", "2048"]),
      );
      await agent.add(await makeKey(folder.path, "issuer"));
      const made = await workspace.ok(
        "init acme.example --dir $D/acme --key agent:",
        given,
      );
      const fingerprint = await fingerprintOf(agent, "issuer@test");
      assertStringIncludes(made, `${fingerprint} in ssh-agent`);
      const files = [...Deno.readDirSync(workspace.path("keys/acme.example"))];
      assertEquals(files.map(({ name }) => name), ["orgsign-1.agent"]);
      const reference = "keys/acme.example/orgsign-1.agent";
      assertEquals(await workspace.read(reference), `${fingerprint}\n`);
      assertEquals(await workspace.mode(reference), 0o600);

      await upsert();
      await upsert(`--key agent:${fingerprint}`);
      await upsert("", { SIG_KEY_FILE: `agent:${fingerprint}` });
      const rotate = "rotate-key --dir $D/acme --kid";
      await workspace.ok(`${rotate} orgsign-2`);
      await upsert("", { SSH_AUTH_SOCK: undefined });
      // Rotates back to a key in the agent; the file key then no longer signs.
      const next = await makeKey(folder.path, "next");
      await agent.add(next);
      const print = await fingerprintOf(agent, "next@test");
      await workspace.ok(`${rotate} orgsign-3 --key agent:${print}`, given);
      await upsert();
      const verified = await workspace.ok("verify $D/acme");
      assertStringIncludes(verified, "valid: 5 events");

      const stdin = draftsOf(5);
      await workspace.ok("import --dir $D/acme -", { ...given, stdin });
      // A checkpoint needs a signature of each key, so appends do not update
      // it.
      // Without asking the agent, init has begun no proofs.
      await workspace.refused(
        "checkpoint --dir $D/acme",
        "this issuer publishes none",
        given,
      );
      const init = "checkpoint --dir $D/acme --init";
      assertStringIncludes(
        (await workspace.sig(init, given)).stderr,
        "warning: asking ssh-agent for 2 signatures",
      );
      const checkpoint = "acme/.well-known/sig/checkpoint";
      const before = await workspace.read(checkpoint);
      assertStringIncludes(
        await upsert(),
        "warning: proofs_behind: the newest key is in an agent; sig checkpoint",
      );
      assertEquals(await workspace.read(checkpoint), before);
      await agent.sshAdd("-q", "-d", next.publicFile);
      await workspace.refused(
        UPSERT,
        `signing_key_not_found: Cannot sign: the agent holds no Ed25519 key "${print}"`,
        given,
      );
      await workspace.refused(
        UPSERT,
        "Cannot sign: there is no ssh-agent: SSH_AUTH_SOCK is not set",
      );
      await agent.stop();
      await workspace.refused(UPSERT, [
        "Cannot sign: there is no ssh-agent at ",
        "ssh-add",
      ], given);
    }),
);

withOpenSsh(
  "attest signs with the agent's only Ed25519 key, or with the named one",
  () =>
    inWorkspace(async (workspace) => {
      await using folder = await tempFolder();
      await using agent = await startAgent(folder.path);
      const given = { env: { SSH_AUTH_SOCK: agent.socket } };
      await workspace.write(
        "c.json",
        JSON.stringify({
          ...{ challenge_id: "c1", audience: "https://shop.example" },
          ...{ nonce: "n1", scopes: [], subject: null },
          issued_at: "2026-01-01T00:00:00Z",
          expires_at: "2026-01-01T00:10:00Z",
        }),
      );
      const attest = "attest --challenge $D/c.json --key agent:";
      const none = "Cannot sign: the agent holds no Ed25519 key";
      await workspace.refused(attest, none, given);
      const first = await makeKey(folder.path, "first");
      await agent.add(first);
      const did = await workspace.ok(`key did ${first.publicFile}`);
      const said = await workspace.sig(attest, given);
      assertStringIncludes(said.stderr, did.trim());
      assertEquals([said.code, said.stdout.split(".").length], [0, 3]);
      await agent.add(await makeKey(folder.path, "second"));
      await workspace.refused(
        attest,
        "Cannot sign: the agent holds 2 Ed25519 keys, and --key agent: names none",
        given,
      );
      const print = await fingerprintOf(agent, "first@test");
      await workspace.says(`${attest}${print}`, {
        ...given,
        stderr: said.stderr,
      });
      await workspace.refused(
        `${attest}SHA256:AAAA`,
        `${none} "SHA256:AAAA"`,
        given,
      );
    }),
);

/** Signs with the only key of an agent that behaves like this. */
async function signWith(
  listed: AgentAnswer,
  signs: AgentAnswer,
  { format = "text", ...io }: Partial<Pick<Io, "deadline"> & Output> = {},
) {
  await using folder = await tempFolder();
  const socket = `${folder.path}/agent`;
  await using _agent = startFakeAgent(
    socket,
    (request) => request[0] === 11 ? listed : signs,
  );
  let stderr = "";
  const error = await assertRejects(async () => {
    const output = {
      format,
      io: {
        ...createDenoIo(),
        env: () => socket,
        stderr: (text: string) => void (stderr += text),
        ...io,
      },
    };
    const key = await (await findAgentKey(output, "agent:")).open();
    await key.sign(new Uint8Array(3));
  });
  assert(isSigError(error, "signing_key_not_found"));
  return { reason: error.reason, stderr };
}

// A key for this run only.
const key = await importSigningKey(await generateSigningKey());
const blob = Uint8Array.fromBase64(jwkToSshKey(key.publicJwk).split(" ")[1]!);
const list = listOf(blob);

Deno.test("signs nothing if the agent refuses or sends invalid responses", async () => {
  const signed = (type: string, signature: Uint8Array) =>
    join(Uint8Array.of(14), string(join(string(type), string(signature))));
  const LISTED = Uint8Array.of(12);
  const huge = { raw: uint32(0xffff_ffff) };
  const wrong = "the agent's answer is not one of the agent protocol";
  const closed = "the agent closed the connection";
  const none = "the agent holds no Ed25519 key";
  const large = "the agent's answer has 4294967295 bytes";
  const unverified = "the agent's signature does not verify";
  const signs = (name: string, why: string, answer: AgentAnswer) =>
    [name, why, list, answer] as const;
  const cases: readonly (readonly [
    string,
    string,
    AgentAnswer,
    AgentAnswer?,
  ])[] = [
    ["closes the connection", closed, "closes"],
    ["refuses to list", "the agent refused to list its keys", Uint8Array.of(5)],
    ["sends 4 GB", large, huge],
    ["sends half a list", closed, { raw: join(uint32(100), list) }],
    ["sends nothing in a message", wrong, new Uint8Array(0)],
    ["lists more than it sends", wrong, join(LISTED, uint32(0xffff_ffff))],
    ["sends more than it lists", wrong, join(list, Uint8Array.of(0))],
    [
      "has a string beyond its end",
      wrong,
      join(LISTED, uint32(1), uint32(0xffff_ffff)),
    ],
    ["has no key", none, listOf()],
    [
      "has a key of small order",
      none,
      listOf(join(blob.subarray(0, 19), new Uint8Array(32))),
    ],
    [
      "has a key with a byte too many",
      none,
      listOf(join(blob, Uint8Array.of(0))),
    ],
    signs("closes the connection before it signs", closed, "closes"),
    signs("refuses to sign", "the agent refused to sign", Uint8Array.of(5)),
    signs("sends a signature of 4 GB", large, huge),
    signs(
      "signs something else",
      unverified,
      signed("ssh-ed25519", await key.sign(new Uint8Array(1))),
    ),
    signs(
      "sends a short signature",
      unverified,
      signed("ssh-ed25519", new Uint8Array(63)),
    ),
    signs(
      "signs with another type",
      "the agent signs with a key of another type",
      signed("ssh-rsa", new Uint8Array(64)),
    ),
    signs(
      "sends bytes after a signature",
      wrong,
      join(signed("ssh-ed25519", new Uint8Array(64)), Uint8Array.of(0)),
    ),
  ];
  for (const [name, why, listed, signs = "closes"] of cases) {
    const { reason } = await signWith(listed, signs);
    assertEquals(reason, why, name);
  }
});

/** Returns a deadline that aborts at once for these times. */
const passed = (waited: number[], isPassed: (ms: number) => boolean) => ({
  deadline(ms: number) {
    waited.push(ms);
    const controller = new AbortController();
    if (isPassed(ms)) queueMicrotask(() => controller.abort());
    return controller.signal;
  },
});

Deno.test("waits 30 s for a signature, and names the reason after a second, except in JSON", async () => {
  const waited: number[] = [];
  // The agent lists its keys in time; only deadlines of the signature expire.
  const late = passed(waited, () => waited.length > 2);
  const { reason } = await signWith(list, "is silent", late);
  assertEquals(reason, "the agent did not sign within 30 s");
  assertEquals(waited, [30_000, 1_000, 30_000, 1_000]);
  const slow = passed([], (ms) => ms === 1_000);
  assertStringIncludes(
    (await signWith(list, "closes", slow)).stderr,
    "warning: waiting up to 30 s for ssh-agent to sign: touch your token",
  );
  const json = { ...slow, format: "json" as const };
  assertEquals((await signWith(list, "closes", json)).stderr, "");
});
