/**
 * Keys in ssh-agent (draft-ietf-sshm-ssh-agent). The private part never leaves
 * the agent.
 *
 * @module
 */

import { type Jwk, SigError } from "@sig/core";
import { joinBytes, quote } from "@sig/core/internal";
import type { ReferencedKey } from "@sig/issuer";
import {
  calculateKid,
  importVerificationKey,
  sshKeyToJwk,
  toPublicJwk,
} from "@sig/jose";
import { type Output, warn } from "../output/write.ts";
import type { Io } from "../terminal/io.ts";

/** Prefix of a `--key` value that names a key in the agent. */
const AGENT = "agent:";

/** Long enough for a person to touch a hardware token. */
const TIMEOUT_MS = 30_000;
/** Delay of the notice; a key that needs no confirmation signs sooner. */
const NOTICE_MS = 1_000;
/** The maximum message size of OpenSSH's agent. */
const MAX_MESSAGE_BYTES = 256 * 1024;

const LIST = 11;
const LISTED = 12;
const SIGN = 13;
const SIGNED = 14;

/** Returns whether a `--key` value names a key in the agent. */
export function isAgentKey(key: string): boolean {
  return key.startsWith(AGENT);
}

/** A key in the agent. */
interface AgentKey {
  /** The `x` of its public JWK. */
  readonly x: string;
  /**
   * Opens the key under a kid (default: its RFC 7638 thumbprint). Each
   * signature is verified before it is returned; after a failure all later ones
   * fail too.
   */
  open(kid?: string): Promise<ReferencedKey>;
}

/**
 * Finds the Ed25519 key that `agent:SHA256:…` names; `agent:` alone selects the
 * only key.
 *
 * @throws {SigError} `signing_key_not_found`, also from the key's `sign`.
 */
export async function findAgentKey(
  output: Output,
  name: string,
): Promise<AgentKey> {
  const wanted = name.slice(AGENT.length);
  const keys = await listKeys(output);
  const found = wanted === ""
    ? keys
    : keys.filter(({ fingerprint }) => fingerprint === wanted);
  const [key] = found;
  if (key === undefined) {
    const which = wanted === "" ? "" : ` ${quote(wanted)}`;
    throw notUsable(`the agent holds no Ed25519 key${which}`);
  }
  if (found.length > 1) {
    throw notUsable(
      `the agent holds ${found.length} Ed25519 keys, and --key agent: names none`,
      `ssh-add -l lists them. For example: --key ${AGENT}${key.fingerprint}`,
    );
  }
  const { blob, fingerprint, jwk } = key;
  return {
    x: jwk.x,
    async open(kid) {
      const own = kid ?? await calculateKid(jwk);
      const verifier = await importVerificationKey(jwk, { backend: "web" });
      // One after another, because each may need a confirmation.
      let last: Promise<unknown> = Promise.resolve();
      return {
        kid: own,
        publicJwk: toPublicJwk({ ...jwk, kid: own }),
        reference: fingerprint,
        sign(message) {
          const signing = last.then(async () => {
            const signature = await requestSignature(output, blob, message);
            if (await verifier.verify(signature, message)) return signature;
            throw notUsable("the agent's signature does not verify");
          });
          last = signing;
          return signing;
        },
      };
    },
  };
}

/** Lists the agent's Ed25519 keys and skips keys of other types. */
async function listKeys(output: Output) {
  const answer = await exchange(output, Uint8Array.of(LIST), "list its keys");
  const reader = new Reader(answer);
  if (reader.byte() !== LISTED) {
    throw notUsable("the agent refused to list its keys");
  }
  const keys: { blob: Uint8Array; fingerprint: string; jwk: Jwk }[] = [];
  for (let left = reader.number(); left > 0; left--) {
    const blob = reader.string();
    reader.string();
    const jwk = jwkOf(blob);
    if (jwk === undefined) continue;
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", blob));
    const fingerprint = `SHA256:${digest.toBase64({ omitPadding: true })}`;
    keys.push({ blob, fingerprint, jwk });
  }
  reader.end();
  return keys;
}

function jwkOf(blob: Uint8Array) {
  try {
    return sshKeyToJwk(`ssh-ed25519 ${blob.toBase64()}`);
  } catch {
    return undefined;
  }
}

async function requestSignature(
  output: Output,
  blob: Uint8Array,
  message: Uint8Array,
): Promise<Uint8Array<ArrayBuffer>> {
  const request = joinBytes([
    Uint8Array.of(SIGN),
    ...[numberOf(blob.length), blob],
    ...[numberOf(message.length), message],
    numberOf(0),
  ]);
  const reader = new Reader(await exchange(output, request, "sign"));
  if (reader.byte() !== SIGNED) throw notUsable("the agent refused to sign");
  const signature = new Reader(reader.string());
  reader.end();
  const type = new TextDecoder().decode(signature.string());
  const bytes = signature.string();
  signature.end();
  if (type === "ssh-ed25519") return bytes;
  throw notUsable("the agent signs with a key of another type");
}

/** Sends a request and returns the whole response without its length prefix. */
async function exchange(
  output: Output,
  request: Uint8Array,
  what: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const { io } = output;
  const timeout = io.deadline(TIMEOUT_MS);
  const noticeDelay = io.deadline(NOTICE_MS);
  const socket = await connect(io);
  let isOpen = true;
  const close = () => {
    if (isOpen) socket.close();
    isOpen = false;
  };
  /** Reads or writes all bytes, by a call for each part. */
  const transfer = async (
    bytes: Uint8Array<ArrayBuffer>,
    move: (part: Uint8Array) => Promise<number | null>,
  ) => {
    for (let at = 0; at < bytes.length;) {
      const count = await move(bytes.subarray(at)).catch(() => null);
      if (count === null) throw notUsable("the agent closed the connection");
      at += count;
    }
    return bytes;
  };
  const read = (length: number) =>
    transfer(new Uint8Array(length), (part) => socket.read(part));
  const notice = () =>
    warn(
      output,
      `waiting up to ${TIMEOUT_MS / 1000} s for ssh-agent to ${what}: ` +
        "touch your token, or confirm it where your agent asks",
    );
  if (noticeDelay.aborted) notice();
  else noticeDelay.addEventListener("abort", notice);
  timeout.addEventListener("abort", close);
  try {
    if (timeout.aborted) close();
    const message = joinBytes([numberOf(request.length), request]);
    await transfer(message, (part) => socket.write(part));
    const length = new Reader(await read(4)).number();
    if (length <= MAX_MESSAGE_BYTES) return await read(length);
    throw notUsable(`the agent's answer has ${length} bytes`);
  } catch (error) {
    if (!timeout.aborted) throw error;
    throw notUsable(
      `the agent did not ${what} within ${TIMEOUT_MS / 1000} s`,
      "Confirm it, or touch the token, and run the command again.",
    );
  } finally {
    noticeDelay.removeEventListener("abort", notice);
    timeout.removeEventListener("abort", close);
    close();
  }
}

/** Connects to the agent's socket (`SSH_AUTH_SOCK`). */
async function connect(io: Io) {
  const path = io.env("SSH_AUTH_SOCK");
  if (path === undefined || path === "") {
    throw notUsable("there is no ssh-agent: SSH_AUTH_SOCK is not set");
  }
  const socket = await io.connectSocket(path);
  if (socket !== undefined) return socket;
  throw notUsable(`there is no ssh-agent at ${quote(path)} (SSH_AUTH_SOCK)`);
}

/**
 * Reads the data types of RFC 4251 §5, and throws if the message is malformed.
 */
class Reader {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #at = 0;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#bytes = bytes;
  }

  byte(): number {
    return this.#take(1)[0]!;
  }

  number(): number {
    const { buffer, byteOffset } = this.#take(4);
    return new DataView(buffer, byteOffset).getUint32(0);
  }

  string(): Uint8Array<ArrayBuffer> {
    return this.#take(this.number());
  }

  end(): void {
    if (this.#at !== this.#bytes.length) throw malformed();
  }

  #take(length: number): Uint8Array<ArrayBuffer> {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw malformed();
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}

function numberOf(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

function malformed(): SigError {
  return notUsable("the agent's answer is not one of the agent protocol");
}

function notUsable(
  why: string,
  hint =
    "Nothing was signed. ssh-add -l lists the agent's keys, ssh-add FILE adds one.",
): SigError {
  return new SigError("signing_key_not_found", {
    action: "sign",
    reason: why,
    context: { hint },
  });
}
