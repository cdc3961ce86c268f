import type { Jwk, OpenObject } from "@sig/core";
import { isIdentifier } from "@sig/core/internal";
import type { CommandSpec } from "../command_line/command.ts";
import { safeJson, writeJson } from "../output/write.ts";
import { usageError } from "@sig/api/flags";

/** `sig key` */
export const key: CommandSpec = {
  positionals: [
    {
      name: "action",
      help: "generate, public or did",
      choices: ["generate", "public", "did"],
    },
    {
      name: "file",
      help: "a JWK file, or - for standard input (public, did)",
      optional: true,
    },
  ],
  flags: [
    {
      name: "out",
      value: "FILE",
      help: "write there (mode 0600, never overwritten) instead of to stdout",
    },
    { name: "kid", value: "KID", help: "the key's identifier (generate)" },
  ],
  examples: [
    "sig key generate --out alice.jwk",
    "sig key did alice.jwk",
    "sig key public alice.jwk",
  ],
  async run(call) {
    const { io } = call;
    const [action, path] = call.positionals;
    requireWords(action!, path, call.text("kid"));
    const jose = await import("@sig/jose");
    const out = call.text("out");
    const put = async (text: string, said: string, about: object = {}) => {
      if (out === undefined) return io.stdout(text);
      await io.createPrivateFile(out, text);
      if (call.format === "json") writeJson(io, { file: out, ...about });
      else io.stdout(said);
    };
    if (action === "generate") {
      const kid = call.text("kid");
      const jwk = await jose.generateSigningKey(
        kid === undefined ? {} : { kid },
      );
      const did = jose.jwkToDidKey(jwk);
      await put(
        `${JSON.stringify(jwk, null, 2)}\n`,
        `Wrote private key ${out} (${did})\n`,
        { kid: jwk.kid, did },
      );
      return 0;
    }
    const { readJwk } = await import("../issue/private_key.ts");
    const read = await readJwk(io, path!);
    // A private key whose x is another's would give out that other's name.
    const jwk = Object.hasOwn(read, "d")
      ? (await jose.importSigningKey(read)).publicJwk
      // Its members are judged there.
      : jose.toPublicJwk(read as OpenObject & Jwk);
    if (action === "public") {
      const text = safeJson(JSON.stringify(jwk, null, 2));
      await put(`${text}\n`, `Wrote public key ${out}\n`);
      return 0;
    }
    const did = jose.jwkToDidKey(jwk);
    const text = call.format === "json" ? JSON.stringify({ did }) : did;
    await put(`${text}\n`, `Wrote ${out}\n`);
    return 0;
  },
};

/** The words and flags that an action takes. */
function requireWords(
  action: string,
  path: string | undefined,
  kid: string | undefined,
): void {
  if (action === "generate") {
    if (path !== undefined) {
      throw usageError("sig key generate takes no file", {
        hint: "The file to write is named by --out.",
      });
    }
    if (kid !== undefined && (!isIdentifier(kid) || kid.length > 256)) {
      throw usageError(
        "--kid must be 1 to 256 characters without control characters",
        { flag: "--kid" },
      );
    }
    return;
  }
  if (path === undefined) {
    throw usageError(`sig key ${action} needs a JWK file`, {
      hint: `For example: sig key ${action} alice.jwk`,
    });
  }
  if (kid !== undefined) {
    throw usageError("--kid is for sig key generate", { flag: "--kid" });
  }
}
