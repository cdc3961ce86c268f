import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { apiProgram } from "@sig/api/internal/sig-api";
import { webProgram } from "@sig/web/sig-web";
import { loadCommands } from "../commands.ts";
import {
  issuerTest,
  type Workspace,
  workspaceTest as test,
} from "../testdata/workspace.ts";

// promise: No command takes a secret as an argument, and none is in an error, a
//   log or a message.

const COMMANDS = await loadCommands();

const STORED = "keys/acme.example/orgsign-1.jwk";
const UPSERT = "upsert --dir $D/acme --subject did:web:c.example --type other";

const CHALLENGE = {
  challenge_id: "c1",
  audience: "https://shop.example",
  nonce: "n1",
  scopes: ["profile", "email"],
  subject: null,
  issued_at: "2026-01-01T00:00:00Z",
  expires_at: "2026-01-01T00:05:00Z",
};

issuerTest(
  "no command prints a private key, except key generate",
  async (workspace) => {
    const { d } = JSON.parse(await workspace.read(STORED));
    const broken = { kty: "OKP", crv: "Ed25519", x: "AAAA", d };
    await workspace.write("broken.jwk", JSON.stringify(broken));
    await workspace.write("text.jwk", `{"d":"${d}",}`);
    const stdin = JSON.stringify(CHALLENGE);
    const file = `$D/${STORED}`;
    const commands = [
      "verify $D/acme",
      "dump-state $D/acme",
      "log $D/acme",
      "serve $D/nowhere",
      `key public ${file}`,
      `key did ${file}`,
      "key did $D/broken.jwk",
      "key public $D/text.jwk",
      `key generate --out ${file}`,
      `attest --challenge - --key ${file}`,
      `accept - --key ${file} --sig $D/acme`,
      "accept - --key $D/broken.jwk --sig $D/acme",
      "invite --dir $D/acme --type other",
      `invite --dir $D/acme --type other --key ${file}`,
      "attest --challenge - --key $D/broken.jwk",
      `${UPSERT} --key ${file}`,
      `${UPSERT} --key $D/broken.jwk`,
      `${UPSERT} --key $D/text.jwk`,
      `${UPSERT} --seed-hex ${d}`,
      `${UPSERT} --seed-hex=${d}`,
      `${UPSERT} --key ${JSON.stringify({ kty: "OKP", d })}`,
      `attest --challenge - --key ${JSON.stringify({ kty: "OKP", d })}`,
      "rotate-key --dir $D/acme --kid orgsign-1",
      `init other.example --dir $D/other --key ${file}`,
      `verify ${file}`,
    ];
    for (const command of commands) {
      for (const format of ["text", "json"]) {
        const words = `${command} --format ${format}`;
        const { stdout, stderr } = await workspace.sig(words, { stdin });
        assert(!(stdout + stderr).includes(d), command);
      }
    }
    for (const text of [`{"d":"${d}"}`, `' {"kty":"OKP","d":"${d}"}'`]) {
      const said = await workspace.refused(
        `${UPSERT} --key ${text}`,
        "error: invalid_key: Cannot use key: it must be the name of a file, not the key itself",
      );
      assert(!said.includes(d));
    }
  },
);

/** Returns the kid of the last event, from a report on the whole feed. */
async function lastKid(workspace: Workspace): Promise<string> {
  const { keys, last_sequence } = await workspace.json("verify $D/acme");
  return keys.find((key: { last_sequence: number }) =>
    key.last_sequence === last_sequence
  ).kid;
}

issuerTest(
  "rotate-key introduces the new key with the key of SIG_KEY_FILE, and says that the old key still signs",
  async (workspace) => {
    await workspace.ok("checkpoint --dir $D/acme --init");
    const old = workspace.path("old.jwk");
    await Deno.rename(workspace.path(STORED), old);
    const words = "rotate-key --dir $D/acme --kid next";
    await workspace.refused(words, [
      'signing_key_not_found: Cannot introduce key "next"',
      "--unintroduced",
    ]);
    const env = { SIG_KEY_FILE: old };
    await workspace.says(words, {
      env,
      out:
        "Added key next; new events are signed with the key of SIG_KEY_FILE until it is unset\n",
      err: "warning: SIG_KEY_FILE still names another",
    });
    const checkpoint = "acme/.well-known/sig/checkpoint";
    const signatures = async () =>
      (await workspace.read(checkpoint)).match(/^— /gm)?.length;
    assertEquals(await signatures(), 3);
    // Without the old key, the checkpoint keeps its signature.
    await workspace.ok("checkpoint --dir $D/acme");
    assertEquals(await signatures(), 3);
    const behind = async () => (await workspace.sig(UPSERT)).stderr;
    assertStringIncludes(
      await behind(),
      'proofs_behind: the proofs were not updated: Cannot sign checkpoint: key "orgsign-1"',
    );
    await workspace.refused("checkpoint --dir $D/acme", "--drop orgsign-1");
    await workspace.says(UPSERT, { env });
    assertEquals(await lastKid(workspace), "orgsign-1");
    assertEquals(await signatures(), 3);
    assertStringIncludes(await behind(), "proofs_behind");
    await workspace.ok("checkpoint --dir $D/acme --drop orgsign-1");
    assertEquals(await signatures(), 2);
  },
);

test("the key store is SIG_KEYS_DIR, XDG_DATA_HOME or HOME, in this order", async (workspace) => {
  const env: { [name: string]: string | undefined } = {
    SIG_KEYS_DIR: undefined,
    XDG_DATA_HOME: undefined,
  };
  for (
    const [name, folder] of [
      ["HOME", "$D/HOME/.local/share/sig/keys"],
      ["XDG_DATA_HOME", "$D/XDG_DATA_HOME/sig/keys"],
      ["SIG_KEYS_DIR", "$D/SIG_KEYS_DIR"],
    ] as const
  ) {
    env[name] = workspace.path(name);
    assertStringIncludes(
      await workspace.ok(`init acme.example --dir $D/of-${name}`, { env }),
      `Private key: ${folder}/acme.example/orgsign-1.jwk\n`,
    );
  }
});

test("a relative HOME is refused for keys and for the pin store", async (workspace) => {
  const env = {
    ...{ SIG_KEYS_DIR: undefined, XDG_DATA_HOME: undefined },
    HOME: "home",
  };
  await workspace.refused(
    "init acme.example --dir $D/acme",
    'invalid_request: Cannot run: no folder for private keys: HOME is "home", which is not an absolute path',
    { env },
  );
  await workspace.refused("pin list", 'HOME is "home"', { env });
});

Deno.test("no flag takes a secret as its value", () => {
  const programs = [...COMMANDS, apiProgram, webProgram];
  const about = programs.flatMap(({ name, flags }) =>
    flags.flatMap((flag) =>
      flag.value !== undefined &&
        /secret|seed|passw|passphrase|private|token|key/i.test(
          `${flag.name} ${flag.help}`,
        )
        ? [`${name} --${flag.name} ${flag.value}`]
        : []
    )
  );
  assert(about.includes("upsert --key FILE|agent:…"));
  // Identifiers, the paths of keys and choices are not secret.
  const others = about.filter((each) =>
    !/ (FILE|FILE\|agent:…|KID|DID\|KEY\|FILE\.pub|SOURCE|VKEY|[a-z]+\|[a-z]+)$/
      .test(each)
  );
  // Members of a public key from sshd, options of authorized_keys, and a name.
  assertEquals(others, [
    // Public keys, and a kid with a number.
    "recovery create --public FILE|KEY",
    "recover --next-public FILE|KEY",
    "recover --stolen KID[=SEQUENCE]",
    "ssh-keys --key-type TYPE",
    "ssh-keys --key BASE64",
    "ssh-keys --options TEXT",
    "cosign --name NAME",
  ]);
});
