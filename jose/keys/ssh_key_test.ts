import { didKeyToJwk, jwkToDidKey, jwkToSshKey, sshKeyToJwk } from "@sig/jose";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { makeKey, withOpenSsh } from "../../tests/kit/open_ssh.ts";
import { runWell, tempFolder } from "../../tests/kit/process.ts";
import { assertSigError } from "../../tests/kit/sig_errors.ts";

// promise: An OpenSSH key has one spelling and one did:key; other types and
//   options are refused.

const DID = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";
const BASE64 =
  "AAAAC3NzaC1lZDI1NTE5AAAAIDtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop";
const LINE = `ssh-ed25519 ${BASE64}`;

Deno.test("a key has one did:key and one OpenSSH line", () => {
  assertEquals(jwkToSshKey(didKeyToJwk(DID)), LINE);
  const lines = [LINE, `${LINE}\n`, `${LINE}\r\n`, `${LINE} `];
  for (const line of [...lines, `${LINE} Ann's "key" # 1\n`]) {
    assertEquals(jwkToDidKey(sshKeyToJwk(line)), DID);
  }
});

withOpenSsh(
  "ssh-keygen writes what is read, and reads what is written",
  async () => {
    await using folder = await tempFolder();
    for (let i = 0; i < 8; i++) {
      const { line, publicFile } = await makeKey(folder.path, `key-${i}`);
      const jwk = sshKeyToJwk(line);
      assertEquals(`${jwkToSshKey(jwk)} key-${i}@test\n`, line);
      const file = `${folder.path}/again.pub`;
      await Deno.writeTextFile(file, `${jwkToSshKey(jwk)}\n`);
      const print = async (path: string) =>
        (await runWell("ssh-keygen", ["-lf", path])).split(" ")[1];
      assertEquals(await print(file), await print(publicFile));
    }
  },
);

withOpenSsh(
  "keys of other types are refused by their name, with the command that makes one",
  async () => {
    await using folder = await tempFolder();
    const types = [
      ["ssh-rsa", ["rsa", "-b", "2048"]],
      ["ecdsa-sha2-nistp256", ["ecdsa"]],
    ] as const;
    for (const [type, words] of types) {
      const { line } = await makeKey(folder.path, type, words);
      const { context } = assertSigError(
        () => sshKeyToJwk(line),
        "invalid_identifier",
        `Cannot use OpenSSH public key: its type is ${type}, not ssh-ed25519`,
      );
      assert(context.hint!.endsWith("ssh-keygen -t ed25519"), context.hint);
    }
    const [authority, key] = [
      await makeKey(folder.path, "authority"),
      await makeKey(folder.path, "key"),
    ];
    const sign = ["-q", "-s", authority.file, "-I", "test", key.publicFile];
    await runWell("ssh-keygen", sign);
    const certificate = await Deno.readTextFile(`${key.file}-cert.pub`);
    assertSigError(
      () => sshKeyToJwk(certificate),
      "invalid_identifier",
      "Cannot use OpenSSH public key: its type is ssh-ed25519-cert-v01@openssh.com, not ssh-ed25519",
    );
    const secret = await Deno.readTextFile(key.file);
    const error = assertSigError(
      () => sshKeyToJwk(secret),
      "invalid_identifier",
      "Cannot use OpenSSH public key: it is a private key",
    );
    const shown = `${error.stack}${JSON.stringify(error.context)}`;
    assertEquals(shown.includes(secret.split("\n")[1]!), false);
  },
);

/** Returns the bytes of a key with any type, length and content. */
function blob(type: string, key: Uint8Array, more: readonly number[] = []) {
  const name = new TextEncoder().encode(type);
  const size = [0, 0, 0, key.length];
  return Uint8Array.of(0, 0, 0, name.length, ...name, ...size, ...key, ...more)
    .toBase64();
}

Deno.test("accepts exactly one spelling of each key", () => {
  const key = Uint8Array.from({ length: 32 }, (_, i) => i);
  const good = Uint8Array.fromBase64(BASE64).subarray(19);
  const body = "ssh-ed25519 must be followed by one space and the 68 " +
    "characters of one key";
  const wrongBytes = "its bytes are not those of an ssh-ed25519 key";
  const before = "it has options or other text before its type";
  const cases: readonly (readonly [string, string])[] = [
    ["", "it must begin with ssh-ed25519"],
    [DID, "it must begin with ssh-ed25519"],
    [BASE64, "it must begin with ssh-ed25519"],
    [`${LINE}\nssh-ed25519 ${BASE64}\n`, body],
    [`ssh-ed25519\n${BASE64}`, body],
    [`${LINE}\n\n`, body],
    [`${LINE} a\u0000b`, body],
    [`ssh-ed25519  ${BASE64}`, body],
    [`ssh-ed25519\t${BASE64}`, body],
    [`${LINE}\tcomment`, body],
    [`${LINE}=`, body],
    [`${LINE}AAAA`, body],
    [LINE.slice(0, -1), body],
    [LINE.replaceAll("+", "-").replace("Dtq", "D-q"), body],
    [` ${LINE}`, before],
    [`no-pty ${LINE}`, before],
    [`command="a b",no-pty ${LINE}`, before],
    [`ssh-ed25519 ${blob("ssh-ed25519", good, [0])}`, body],
    [`ssh-ed25519 ${blob("ssh-ed25519", good.subarray(1))}`, body],
    [`ssh-ed25519 ${blob("ssh-ed25518", good)}`, wrongBytes],
    [`ssh-ed25519 ${blob("ssh-rsa", new Uint8Array(36))}`, wrongBytes],
    [
      "sk-ssh-ed25519@openssh.com AAAA",
      "its type is sk-ssh-ed25519@openssh.com, not ssh-ed25519",
    ],
    [
      `ssh-ed25519 ${blob("ssh-ed25519", new Uint8Array(32))}`,
      "x is a point of small order, under which signatures can be forged",
    ],
    [
      `ssh-ed25519 ${blob("ssh-ed25519", new Uint8Array(32).fill(255))}`,
      "x is not a canonical point encoding (expected y < 2^255-19)",
    ],
    [
      `ssh-ed25519 ${blob("ssh-ed25519", key.fill(2))}`,
      "x is not a point on the curve",
    ],
  ];
  for (const [line, why] of cases) {
    assertSigError(
      () => sshKeyToJwk(line),
      "invalid_identifier",
      `Cannot use OpenSSH public key: ${why}`,
    );
  }
});

Deno.test("an accepted key converts back to the same line", () => {
  const character = fc.constantFrom(..."AZaz09+/ =\n-");
  fc.assert(fc.property(
    fc.array(fc.tuple(fc.nat(LINE.length), character), { maxLength: 3 }),
    (changes) => {
      const text = [...LINE];
      for (const [at, to] of changes) text[at] = to;
      const line = text.join("");
      let jwk;
      try {
        jwk = sshKeyToJwk(line);
      } catch {
        return;
      }
      assertEquals(line.startsWith(jwkToSshKey(jwk)), true);
    },
  ));
});
