import { generateSigningKey, importSigningKey, jwkToSshKey } from "@sig/jose";
import { assertEquals, assertStringIncludes } from "@std/assert";
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
import {
  type Given,
  inWorkspace,
  type Ran,
  type Workspace,
} from "../testdata/workspace.ts";

const FEED = "acme/.well-known/sig/events.jsonl";
const UPSERT = "upsert --dir $D/acme --type other --role x --subject " +
  "did:web:alice.example";

/** Runs words that must succeed. */
async function well(
  workspace: Workspace,
  words: string,
  given: Given = {},
): Promise<Ran> {
  const ran = await workspace.sig(words.split(" "), given);
  assertEquals(ran.code, 0, `${words}\n${ran.stderr}`);
  return ran;
}

/** The error of words that must fail, and that nothing was changed by them. */
async function refused(
  workspace: Workspace,
  words: string,
  given: Given = {},
): Promise<string> {
  const before = await workspace.snapshot();
  const { code, stderr, stdout } = await workspace.sig(words.split(" "), given);
  assertEquals([code, stdout], [2, ""], `${words}\n${stderr}`);
  assertEquals(await workspace.snapshot(), before);
  return stderr;
}

withOpenSsh(
  "an issuer signs with a key in ssh-agent, and no private key is on disk",
  () =>
    inWorkspace(async (workspace) => {
      await using folder = await tempFolder();
      await using agent = await startAgent(folder.path);
      const env = { SSH_AUTH_SOCK: agent.socket };
      const key = await makeKey(folder.path, "issuer");
      const rsa = await makeKey(folder.path, "rsa", ["rsa", "-b", "2048"]);
      await agent.add(rsa);
      await agent.add(key);
      const first = "init acme.example --dir $D/acme --key agent:";
      const made = await well(workspace, first, { env });
      const fingerprint = (await agent.sshAdd("-l")).match(
        /SHA256:\S+(?= issuer@test)/,
      )![0];
      assertStringIncludes(made.stdout, `${fingerprint} in ssh-agent`);
      const files = [...Deno.readDirSync(workspace.path("keys/acme.example"))];
      assertEquals(files.map(({ name }) => name), ["orgsign-1.agent"]);
      const reference = workspace.path("keys/acme.example/orgsign-1.agent");
      assertEquals(await Deno.readTextFile(reference), `${fingerprint}\n`);
      assertEquals(Deno.statSync(reference).mode! & 0o777, 0o600);

      await well(workspace, UPSERT, { env });
      await well(workspace, `${UPSERT} --key agent:${fingerprint}`, { env });
      const named = { ...env, SIG_KEY_FILE: `agent:${fingerprint}` };
      await well(workspace, UPSERT, { env: named });
      const rotate = "rotate-key --dir $D/acme --kid orgsign-2";
      await well(workspace, rotate);
      await well(workspace, UPSERT);
      // A key in the agent again: the file key before it does not sign.
      const next = await makeKey(folder.path, "next");
      await agent.add(next);
      const print =
        (await agent.sshAdd("-l")).match(/SHA256:\S+(?= next@test)/)![0];
      const third = "rotate-key --dir $D/acme --kid orgsign-3";
      await well(workspace, `${third} --key agent:${print}`, { env });
      await well(workspace, UPSERT, { env });
      const { stdout } = await well(workspace, "verify $D/acme");
      assertStringIncludes(stdout, "valid: 5 events");

      const batch = Array.from({ length: 5 }, (_, i) =>
        JSON.stringify({
          event_type: "relationship.upsert",
          subject: `did:web:s${i}.example`,
          relationship_type: "other",
        })).join("\n");
      const imported = "import --dir $D/acme -";
      await well(workspace, imported, { env, stdin: batch });
      // A checkpoint takes a signature of each key: no append asks for them.
      const init = "checkpoint --dir $D/acme --init";
      assertStringIncludes(
        (await well(workspace, init, { env })).stderr,
        "warning: asking ssh-agent for 2 signatures",
      );
      const path = workspace.path("acme/.well-known/sig/checkpoint");
      const before = await Deno.readTextFile(path);
      assertStringIncludes(
        (await well(workspace, UPSERT, { env })).stderr,
        "warning: proofs_behind: the newest key is in an agent; sig checkpoint",
      );
      assertEquals(await Deno.readTextFile(path), before);
      await agent.sshAdd("-q", "-d", next.publicFile);
      assertStringIncludes(
        await refused(workspace, UPSERT, { env }),
        `signing_key_not_found: Cannot sign: the agent holds no Ed25519 key "${print}"`,
      );
      assertStringIncludes(
        await refused(workspace, UPSERT),
        "Cannot sign: there is no ssh-agent: SSH_AUTH_SOCK is not set",
      );
      await agent.stop();
      const gone = await refused(workspace, UPSERT, { env });
      assertStringIncludes(gone, "Cannot sign: there is no ssh-agent at ");
      assertStringIncludes(gone, "ssh-add");
    }),
);

withOpenSsh(
  "a person's attestation is signed by the agent's only Ed25519 key, or by the one that is named",
  () =>
    inWorkspace(async (workspace) => {
      await using folder = await tempFolder();
      await using agent = await startAgent(folder.path);
      const env = { SSH_AUTH_SOCK: agent.socket };
      await Deno.writeTextFile(
        workspace.path("c.json"),
        JSON.stringify({
          ...{ challenge_id: "c1", audience: "https://shop.example" },
          ...{ nonce: "n1", scopes: [], subject: null },
          issued_at: "2026-01-01T00:00:00Z",
          expires_at: "2026-01-01T00:10:00Z",
        }),
      );
      const attest = "attest --challenge $D/c.json --key agent:";
      assertStringIncludes(
        await refused(workspace, attest, { env }),
        "Cannot sign: the agent holds no Ed25519 key",
      );
      const first = await makeKey(folder.path, "first");
      await agent.add(first);
      const did = (await well(workspace, `key did ${first.publicFile}`)).stdout;
      const said = await well(workspace, attest, { env });
      assertStringIncludes(said.stderr, did.trim());
      assertEquals(said.stdout.split(".").length, 3);
      await agent.add(await makeKey(folder.path, "second"));
      assertStringIncludes(
        await refused(workspace, attest, { env }),
        "Cannot sign: the agent holds 2 Ed25519 keys, and --key agent: names none",
      );
      const print =
        (await agent.sshAdd("-l")).match(/SHA256:\S+(?= first@test)/)![0];
      const again = await well(workspace, `${attest}${print}`, { env });
      assertEquals(again.stderr, said.stderr);
      // A locked agent lists no keys.
      const other = "agent:SHA256:AAAA";
      assertStringIncludes(
        await refused(workspace, attest.replace("agent:", other), { env }),
        'Cannot sign: the agent holds no Ed25519 key "SHA256:AAAA"',
      );
    }),
);

Deno.test("an agent that refuses, lies, or sends too much or nothing signs nothing", async (t) => {
  await inWorkspace(async (workspace) => {
    // A test key, made for this run.
    const key = await importSigningKey(await generateSigningKey());
    const blob = Uint8Array.fromBase64(
      jwkToSshKey(key.publicJwk).split(" ")[1]!,
    );
    const list = listOf(blob);
    const socket = workspace.path("agent");
    const env = { SSH_AUTH_SOCK: socket };
    const given: Given = { env };
    const signed = (type: string, signature: Uint8Array) =>
      join(
        Uint8Array.of(14),
        string(join(string(type), string(signature))),
      );
    const act = (listed: AgentAnswer, signs: AgentAnswer = "closes") =>
      startFakeAgent(
        socket,
        (request) => request[0] === 11 ? listed : signs,
      );
    const huge = { raw: uint32(0xffff_ffff) };
    const wrong = "the agent's answer is not one of the agent protocol";
    const cases:
      readonly (readonly [string, AgentAnswer, AgentAnswer, string])[] = [
        ["goes", "closes", "closes", "the agent closed the connection"],
        [
          "refuses to list",
          Uint8Array.of(5),
          "closes",
          "the agent refused to list its keys",
        ],
        [
          "sends 4 GB",
          huge,
          "closes",
          "the agent's answer has 4294967295 bytes",
        ],
        [
          "sends half a list",
          { raw: join(uint32(100), list) },
          "closes",
          "the agent closed the connection",
        ],
        ["sends nothing in a message", new Uint8Array(0), "closes", wrong],
        [
          "lists more than it sends",
          join(Uint8Array.of(12), uint32(0xffff_ffff)),
          "closes",
          wrong,
        ],
        [
          "sends more than it lists",
          join(list, Uint8Array.of(0)),
          "closes",
          wrong,
        ],
        [
          "has a string beyond its end",
          join(Uint8Array.of(12), uint32(1), uint32(0xffff_ffff)),
          "closes",
          wrong,
        ],
        ["has no key", listOf(), "closes", "the agent holds no Ed25519 key"],
        [
          "has a key of small order",
          listOf(join(blob.subarray(0, 19), new Uint8Array(32))),
          "closes",
          "the agent holds no Ed25519 key",
        ],
        [
          "has a key with a byte too many",
          listOf(join(blob, Uint8Array.of(0))),
          "closes",
          "the agent holds no Ed25519 key",
        ],
        [
          "goes before it signs",
          list,
          "closes",
          "the agent closed the connection",
        ],
        [
          "refuses to sign",
          list,
          Uint8Array.of(5),
          "the agent refused to sign",
        ],
        [
          "sends a signature of 4 GB",
          list,
          huge,
          "the agent's answer has 4294967295 bytes",
        ],
        [
          "signs something else",
          list,
          signed("ssh-ed25519", await key.sign(new Uint8Array(1))),
          "the agent's signature does not verify",
        ],
        [
          "sends a short signature",
          list,
          signed("ssh-ed25519", new Uint8Array(63)),
          "the agent's signature does not verify",
        ],
        [
          "signs with another type",
          list,
          signed("ssh-rsa", new Uint8Array(64)),
          "the agent signs with a key of another type",
        ],
        [
          "sends bytes behind a signature",
          list,
          join(signed("ssh-ed25519", new Uint8Array(64)), Uint8Array.of(0)),
          wrong,
        ],
      ];
    {
      await using _agent = act(list);
      const init = "init acme.example --dir $D/acme --key agent:";
      await well(workspace, init, given);
    }
    await Deno.remove(socket).catch(() => {});
    for (const [name, listed, signs, message] of cases) {
      await t.step(`one that ${name}`, async () => {
        await using _agent = act(listed, signs);
        assertStringIncludes(
          await refused(workspace, UPSERT, given),
          `signing_key_not_found: Cannot sign: ${message}`,
        );
        assertEquals(await Deno.readTextFile(workspace.path(FEED)), "");
      });
      await Deno.remove(socket).catch(() => {});
    }
    await t.step(
      "one that is silent, after 30 s and with a notice",
      async () => {
        await using _agent = act(list, "is silent");
        const waited: number[] = [];
        // The clock of this test: while it lists, nothing is over.
        let isSigning = false;
        const deadline = (ms: number) => {
          waited.push(ms);
          const count = waited.filter((each) => each === ms).length;
          isSigning = count > 1;
          const controller = new AbortController();
          // First the notice, then the end.
          if (isSigning) queueMicrotask(() => controller.abort());
          return controller.signal;
        };
        const said = await refused(workspace, UPSERT, {
          env,
          io: { deadline },
        });
        assertEquals(new Set(waited), new Set([30_000, 1_000]));
        assertStringIncludes(
          said,
          "Cannot sign: the agent did not sign within 30 s",
        );
      },
    );
    await Deno.remove(socket).catch(() => {});
    await t.step(
      "the notice says what is waited for, and JSON has none",
      async () => {
        await using _agent = act(list, "closes");
        const deadline = (ms: number) => {
          const controller = new AbortController();
          if (ms === 1_000) queueMicrotask(() => controller.abort());
          return controller.signal;
        };
        const text = await refused(workspace, UPSERT, {
          env,
          io: { deadline },
        });
        assertStringIncludes(
          text,
          "warning: waiting up to 30 s for ssh-agent to sign: touch your token",
        );
        const json = await refused(workspace, `${UPSERT} --format json`, {
          env,
          io: { deadline },
        });
        assertEquals(JSON.parse(json).code, "signing_key_not_found");
      },
    );
  });
});
