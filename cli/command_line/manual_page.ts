/** The manual page, derived from the same definitions as the help. @module */

import { flagRow, isSample, partsOf } from "@sig/api/program";
import type { Command } from "./command.ts";
import { ABOUT, EXAMPLES, EXIT_CODES, usageLine } from "./help.ts";
import { flagsOf } from "./parse_command_line.ts";

/** A term, printed in bold, and its meaning. */
type Entry = readonly [string, string];

const ENVIRONMENT: readonly Entry[] = [
  ["SIG_KEYS_DIR", "the folder of the private keys"],
  [
    "SIG_KEY_FILE",
    "one private JWK, or key in ssh-agent, that signs instead of the key store",
  ],
  ["XDG_DATA_HOME", "the private keys are in sig/keys of this folder"],
  ["HOME", "the private keys are in .local/share/sig/keys (default)"],
  ["SSH_AUTH_SOCK", "the socket of ssh-agent, for --key agent:"],
  ["NO_COLOR", "if it is set, nothing is coloured"],
];

const FILES: readonly Entry[] = [
  ["DIR/.well-known", "what is published: metadata, keys, DID document, feed"],
  ["DIR/.sig", "lock, index and names: never published"],
  [
    "~/.local/share/sig/keys/<host>/<kid>.jwk",
    "a private key, of mode 0600: its holder can sign as the issuer",
  ],
  [
    "~/.local/share/sig/keys/<host>/<kid>.agent",
    "the fingerprint of a key in ssh-agent",
  ],
];

/** Returns the page sig(1) as roff with the macros of man(7). */
export function manualPage(
  commands: readonly Command[],
  { version, date }: { readonly version: string; readonly date: Date },
): string {
  const day = date.toISOString().slice(0, 10);
  return [
    `.TH SIG 1 ${day} "sig ${version}" "User Commands"`,
    ...[".SH NAME", `sig \\- ${ABOUT}`],
    ...[".SH SYNOPSIS", ".B sig", "command [flags]", ".br"],
    ...[".B sig", `command ${literal("--help")}`],
    // No hyphenation, which would split values of flags, and no justification.
    ...[".nr HY 0", ".ad l"],
    ".SH DESCRIPTION",
    ...paragraphs(
      "An issuer publishes signed statements on who holds which relationship to it, as static files. sig makes and appends them, verifies them, and answers questions about them.\n\n" +
        "Results go to standard output, everything else to standard error. With --format json standard output carries exactly one JSON value, and an error is one JSON object on standard error.\n\n" +
        "A source is did:web:host, a host name, an https URL of a sig.json, a sig.json file, or a directory that holds .well-known. A path contains /, starts with . or ends in .json; any other word is a host. A duration is a number with ms, s, m, h or d. A time is RFC 3339 UTC, or a date: the start of that day, UTC; for --to and --valid-until, through its end.",
    ),
    ".SH COMMANDS",
    ...commands.flatMap(section),
    ...[".SH EXIT STATUS", ...EXIT_CODES.flatMap(entry)],
    ...[".SH ENVIRONMENT", ...ENVIRONMENT.flatMap(entry)],
    ...[".SH FILES", ...FILES.flatMap(entry)],
    ...[".SH EXAMPLES", ...example(EXAMPLES)],
    "",
  ].join("\n");
}

function section(command: Command): readonly string[] {
  const { name, aliases = [], summary, description, positionals } = command;
  const words = (positionals ?? []).map(({ name, help }) =>
    [name, help] as const
  );
  return [
    `.SS ${literal(name)}`,
    prose(`${sentence(summary)}.`),
    ...[".PP", literal(usageLine(command, name))],
    ...description === undefined ? [] : [".PP", ...paragraphs(description)],
    ...aliases.length === 0
      ? []
      : [".PP", prose(`Also called ${aliases.join(", ")}.`)],
    ...[...words, ...flagsOf(command).map(flagRow)].flatMap(entry),
    ...[".PP", ...example(command.examples)],
  ];
}

function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function entry([word, meaning]: Entry): readonly string[] {
  return [".TP", `.B ${literal(word)}`, prose(meaning)];
}

function example(lines: readonly string[]): readonly string[] {
  return [".EX", ...lines.map(literal), ".EE"];
}

/**
 * Returns paragraphs as roff, which fills their lines, and samples as they are.
 */
function paragraphs(text: string): readonly string[] {
  return partsOf(text).flatMap((part) =>
    part === ""
      ? ".PP"
      : isSample(part)
      ? example(part.split("\n"))
      : prose(part)
  );
}

/** Escapes prose; the hyphens of flags stay ASCII hyphens. */
function prose(text: string): string {
  return escape(text).replaceAll(
    /(?<=^|[\s(])-+/g,
    (dashes) => "\\-".repeat(dashes.length),
  );
}

/** Escapes text to copy; every hyphen stays an ASCII hyphen. */
function literal(text: string): string {
  return escape(text).replaceAll("-", "\\-");
}

/** Escapes roff requests and escapes in a text, and non-ASCII characters. */
function escape(text: string): string {
  return text.replaceAll("\\", "\\e")
    .replace(/^[.']/, "\\&$&")
    .replaceAll("~", "\\(ti")
    .replaceAll("^", "\\(ha")
    .replaceAll("'", "\\(aq")
    .replaceAll(/[^\0-\x7f]/gu, (character) => {
      const code = character.codePointAt(0)!.toString(16).toUpperCase();
      return `\\[u${code.padStart(4, "0")}]`;
    });
}
