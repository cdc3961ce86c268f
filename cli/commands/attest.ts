import type { AttestationPreview, SignAttestationOptions } from "@sig/jose";
import { typedCommand } from "../command_line/command.ts";
import { did, input, signingKey, textOf } from "../command_line/values.ts";
import { many, optional, required, usageError } from "@sig/api/program";
import { writeLines } from "../output/fields.ts";
import type { Io } from "../terminal/io.ts";
import { writeResult } from "../output/write.ts";
import { readJsonInput } from "../terminal/read_input.ts";

const MAX_CHALLENGE_BYTES = 64 * 1024;

/** `sig attest` */
export const attest = typedCommand({
  description: `
    Shows on standard error what is signed: for which site, as whom, with which
    scopes. Then prints the attestation to return to that site. A challenge whose
    message differs from its fields is refused.`,
  flags: {
    challenge: required(input, "the challenge as JSON; - is standard input"),
    key: optional(
      signingKey,
      "your private JWK, or key in ssh-agent (default: SIG_KEY_FILE)",
    ),
    subject: optional(
      did,
      "a did:web of yours (default: the did:key of the key)",
    ),
    scope: many(
      textOf("SCOPE"),
      "grant only this scope (default: all that are requested)",
    ),
  },
  examples: [
    "sig attest --challenge challenge.json --key alice.jwk",
    "sig attest --challenge challenge.json --key agent:",
  ],
  async run(call) {
    const { io } = call;
    const { challenge: source, scope: scopes, subject } = call.flags;
    const file = call.flags.key ?? io.env("SIG_KEY_FILE");
    if (file === undefined) {
      throw usageError("--key is required", { flag: "--key" });
    }
    if (source === "-" && file === "-") {
      throw usageError("--challenge and --key can't both be standard input", {
        flag: "--key",
      });
    }
    const challenge = await readJsonInput(io, source, {
      what: "challenge",
      flag: "--challenge",
      maxBytes: MAX_CHALLENGE_BYTES,
      hint: "It is the whole answer of POST /v1/auth/challenge/create.",
    });
    const { previewAttestation, signAttestation } = await import("@sig/jose");
    const { readSigningKey } = await import("../issue/private_key.ts");
    const options: SignAttestationOptions = {
      // `signAttestation` validates its members.
      challenge: challenge as SignAttestationOptions["challenge"],
      key: await readSigningKey(call, file),
      now: io.now,
      ...(subject === undefined ? {} : { subject }),
      ...(scopes.length === 0 ? {} : { scopes }),
    };
    const preview = previewAttestation(options);
    if (call.format === "text") showPreview(io, preview);
    const attestation = await signAttestation(options);
    writeResult(call, { attestation, ...preview }, `${attestation}\n`);
  },
});

/** Shows the meaning of the attestation before it is signed. */
function showPreview(io: Io, preview: AttestationPreview): void {
  const { audience, subject, scopes, require, expires_at } = preview;
  writeLines(io, [
    ["Signing in at", audience],
    ["as", subject],
    ["granting", scopes.length === 0 ? "nothing more" : scopes.join(" ")],
    ...(require.length === 0
      ? []
      : [["required", require.join(", ")] as const]),
    ["valid until", expires_at],
  ], 15);
}
