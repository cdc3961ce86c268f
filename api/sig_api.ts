/**
 * `sig-api` as a program: its flags and their meaning (docs/reference/http.md).
 *
 * @example
 * ```ts
 * import { apiProgram } from "@sig/api/internal/sig-api";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(apiProgram.name, "sig-api");
 * ```
 *
 * @module
 */

import {
  address,
  duration,
  file,
  flagSpecs,
  type GivenFlags,
  many,
  optional,
  readServerFlags,
  readValues,
  SERVER_FLAGS,
  type ServerIo,
  type ServerProgram,
  type Startup,
  text,
  toggle,
  usageError,
} from "./program/mod.ts";
import { quote } from "@sig/core/internal";
import { VERSION } from "./openapi/operation.ts";

const FLAGS = {
  addr: optional(
    address,
    "where to listen (default: 127.0.0.1:8787); port 0 takes any",
  ),
  issuer: many(text, "an issuer that may be asked about", {
    placeholder: "DID|HOST",
  }),
  "any-issuer": toggle("any issuer of the public internet may be asked about"),
  "token-file": optional(
    file,
    "holds the bearer token that requests must carry",
  ),
  "max-age": optional(
    duration,
    "how old an issuer's state may be (default: 60s); 0s asks each time",
  ),
  grace: optional(
    duration,
    "how much older it may be while the issuer can't be reached (default: 0s)",
  ),
  "cors-origin": many(text, "an origin whose pages may ask", {
    placeholder: "ORIGIN",
  }),
  "public-url": optional(
    text,
    "where clients reach it (default: the origin that they ask)",
    { placeholder: "ORIGIN" },
  ),
};

/** The program `sig-api`, also run by `sig api`. */
export const apiProgram: ServerProgram = {
  name: "sig-api",
  version: VERSION,
  summary: "answers whether a feed is valid, and what a subject may do",
  flags: [...flagSpecs(FLAGS), ...SERVER_FLAGS],
  examples: [
    "sig-api --issuer acme.example",
    "sig-api --addr 0.0.0.0:8787 --issuer acme.example --token-file token.txt",
    "sig-api --issuer acme.example --pins redis://redis.example",
  ],
  start,
};

async function start(flags: GivenFlags, io: ServerIo): Promise<Startup> {
  const settings = readServerFlags(flags, "127.0.0.1:8787", io);
  const given = readValues(FLAGS, flags);
  const { issuer: issuers, "token-file": tokenFile } = given;
  const { exposure } = settings;
  const token = tokenFile === undefined
    ? io.token
    : readToken(await io.readFile(tokenFile, 4096));
  if (exposure && token === undefined && !flags.on("public")) {
    throw usageError(
      "a server that others can reach needs --token-file, or --public",
      {
        flag: "--token-file",
        hint: `${
          exposure.flag === "--addr"
            ? ""
            : `${exposure.flag} ${quote(exposure.value)} says that they do. `
        }Put a long random text into a file, and name it here.`,
      },
    );
  }
  const anyIssuer = given["any-issuer"];
  const { pins, requirePin, warnings } = await settings.openPins();
  const options = {
    issuers,
    pins,
    requirePin,
    anyIssuer,
    token,
    now: io.now,
    ...settings.service,
    maxAgeMs: given["max-age"],
    graceMs: given.grace,
    corsOrigins: given["cors-origin"],
    publicUrl: given["public-url"],
  };
  const isGuessable = exposure && token !== undefined &&
    token.length < SAFE_TOKEN_LENGTH;
  const place = tokenFile === undefined ? "SIG_TOKEN" : "--token-file";
  return {
    address: settings.address,
    log: settings.log,
    async createApp(_url, log) {
      const { createApp } = await import("./app.ts");
      const { findTelemetry } = await import("./http/mod.ts");
      const telemetry = findTelemetry(VERSION);
      return createApp({ ...options, log, telemetry });
    },
    warnings: isGuessable
      ? [
        ...warnings,
        `the token of ${place} has fewer than ${SAFE_TOKEN_LENGTH} characters and may be guessed: make one by openssl rand -hex 32`,
      ]
      : warnings,
    close: async () => await pins?.close(),
    notes: (url) => [
      `Answers about ${
        anyIssuer
          ? "any issuer"
          : issuers.length > 0
          ? issuers.join(", ")
          : "feeds that come with the request only; name issuers with --issuer"
      }. How to ask: ${url}/docs. Stop it with Ctrl-C.`,
    ],
  };
}

/** Minimum length of a token: 16 hexadecimal characters have 64 bits. */
const SAFE_TOKEN_LENGTH = 16;

/** RFC 6750: printable, without white space. A newline at the end is common. */
function readToken(bytes: Uint8Array): string {
  const token = new TextDecoder().decode(bytes).replace(/\r?\n$/, "");
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw usageError("the token must be one line of printable ASCII", {
    flag: "--token-file",
    hint: "For example: openssl rand -hex 32 > token.txt",
  });
}
