import { JsonError, parseJson, SigError } from "@sig/core";
import type { SignAttestationOptions } from "@sig/jose";
import type { Command } from "../command.ts";
import { writeJson } from "../output.ts";

const MAX_CHALLENGE_BYTES = 64 * 1024;

/** `sig attest` */
export const attest: Command = {
  name: "attest",
  summary: "answer a login challenge with your key",
  description:
    "Prints the attestation to give back to the site. Read the challenge's\nmessage first: it says which site asks for what.",
  flags: [
    {
      name: "challenge",
      value: "FILE|-",
      help: "the challenge as JSON; - is standard input",
      required: true,
    },
    {
      name: "key",
      value: "FILE",
      help: "your private JWK; SIG_KEY_FILE unless told",
    },
    {
      name: "subject",
      value: "DID",
      help: "a did:web of yours; the key's did:key unless told",
    },
    {
      name: "scope",
      value: "SCOPE",
      help: "grant only this; everything asked unless told",
      repeat: true,
    },
  ],
  examples: ["sig attest --challenge challenge.json --key alice.jwk"],
  async run(call) {
    const { io } = call;
    const file = call.text("key") ?? io.env("SIG_KEY_FILE");
    const { usageError } = await import("@sig/api/flags");
    if (file === undefined) {
      throw usageError("--key is required", { flag: "--key" });
    }
    const source = call.text("challenge")!;
    if (source === "-" && file === "-") {
      throw usageError("--challenge and --key can't both be standard input", {
        flag: "--key",
      });
    }
    const bytes = source === "-"
      ? await io.readStdin(MAX_CHALLENGE_BYTES)
      : await io.readFile(source, MAX_CHALLENGE_BYTES);
    const challenge = readChallenge(bytes);
    const { signAttestation } = await import("@sig/jose");
    const { readSigningKey } = await import("../private_key.ts");
    const subject = call.text("subject");
    const scopes = call.texts("scope");
    const attestation = await signAttestation({
      // Its members are judged there.
      challenge: challenge as SignAttestationOptions["challenge"],
      key: await readSigningKey(call, file),
      now: io.now,
      ...(subject === undefined ? {} : { subject }),
      ...(scopes.length === 0 ? {} : { scopes }),
    });
    if (call.format === "json") writeJson(io, { attestation });
    else io.stdout(`${attestation}\n`);
    return 0;
  },
};

function readChallenge(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new SigError(
      "invalid_json",
      `Cannot read challenge: ${error.message}`,
      { context: { flag: "--challenge" } },
    );
  }
}
