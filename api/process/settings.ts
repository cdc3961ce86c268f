/** A server's settings beside its command line: a file, and variables. @module */

import { isSigError, JsonError, parseJson, type SigError } from "@sig/core";
import { isObject, quote, suggest } from "@sig/core/internal";
import { type FlagSpec, type GivenFlags, usageError } from "../flags/flag.ts";

/** The variables of the environment. */
export interface Variables {
  /** By name. */
  readonly values: { readonly [name: string]: string };
  /** `known`: only some names may be read, so others were not looked for. */
  readonly looked: "all" | "known" | "none";
}

/** How settings are read from the outside. */
export interface SettingsIo {
  /** Reads a whole file. */
  readFile(path: string, maxBytes: number): Promise<Uint8Array>;
  /** Reads all variables, or those of these names that may be read. */
  variables(known: readonly string[]): Variables;
}

/** Settings of a platform that starts servers without a command line. */
export interface PlatformSettings {
  /** Older names of variables, by the flag that they mean. */
  readonly aliases: { readonly [variable: string]: string };
  /** Values where nothing else is given, by flag. */
  readonly defaults: { readonly [flag: string]: string };
}

/** What a server is started with. */
export interface Settings {
  /** The flags, wherever their values come from. */
  readonly flags: GivenFlags;
  /** What the operator should know. */
  readonly notes: readonly string[];
}

/** Bytes of a file of settings. */
const MAX_BYTES = 256 * 1024;

/**
 * Kubernetes tells each process of a service `sig-api` by variables of such
 * names, unless `enableServiceLinks` is off.
 */
const OF_KUBERNETES =
  /^SIG_(?:API|WEB)_(?:SERVICE_(?:HOST|PORT(?:_\w+)?)|PORT(?:_\d+_\w+)?)$/;

/** The name of a flag in a file of settings. */
export function settingName(flag: string): string {
  return flag.replaceAll("-", "_");
}

/** The variable of a program's flag, such as `SIG_API_MAX_AGE`. */
export function variableName(program: string, flag: string): string {
  return settingName(`${program}-${flag}`).toUpperCase();
}

/** A value, and what its source calls it. */
interface Entry {
  readonly name: string;
  readonly texts: readonly string[];
}

/**
 * Adds to the flags that were given what variables say, then what the file of
 * `--config` says, then a platform's defaults.
 *
 * @throws {SigError} `invalid_request` for an unknown name and for a value that
 * its flag does not take; `source_not_found`, `document_too_large`.
 */
export async function readSettings(
  program: { readonly name: string; readonly flags: readonly FlagSpec[] },
  given: GivenFlags,
  io: SettingsIo,
  platform?: PlatformSettings,
): Promise<Settings> {
  const { name, flags } = program;
  const { aliases = {}, defaults = {} } = platform ?? {};
  const prefix = variableName(name, "");
  // In the order of their precedence.
  const flagOf = new Map<string, FlagSpec>([
    ...Object.entries(aliases).flatMap(([variable, of]) =>
      flags.filter((flag) => flag.name === of)
        .map((flag) => [variable, flag] as const)
    ),
    ...flags.map((flag) => [variableName(name, flag.name), flag] as const),
  ]);
  const { values, looked } = io.variables([...flagOf.keys()]);
  for (const [variable, text] of Object.entries(values)) {
    const isKnown = flagOf.has(variable) || OF_KUBERNETES.test(variable);
    if (isKnown || text === "" || !variable.startsWith(prefix)) continue;
    throw unknown("variable", variable, [...flagOf.keys()], name);
  }
  const variables = new Map(
    [...flagOf].flatMap(([variable, flag]) => {
      const text = values[variable];
      return text ? [[flag.name, entryOf(flag, text, variable)]] : [];
    }),
  );
  const path = given.text("config") ?? variables.get("config")?.texts[0];
  const entries = new Map<string, Entry>([
    ...Object.entries(defaults).map(([flag, text]) =>
      [flag, { name: `--${flag}`, texts: [text] }] as const
    ),
    ...path === undefined ? [] : await readFileSettings(path, program, io),
    ...variables,
  ]);
  return {
    flags: {
      text: (flag) => given.text(flag) ?? entries.get(flag)?.texts[0],
      texts: (flag) =>
        given.on(flag) ? given.texts(flag) : entries.get(flag)?.texts ?? [],
      on: (flag) =>
        given.on(flag) || (entries.get(flag)?.texts.length ?? 0) > 0,
      nameOf: (flag) =>
        (given.on(flag) ? undefined : entries.get(flag)?.name) ??
          (platform ? variableName(name, flag) : `--${flag}`),
    },
    notes: looked !== "known" ? [] : [
      `Variables ${prefix}… that ${name} does not know were not looked for: that needs --allow-env.`,
    ],
  };
}

async function readFileSettings(
  path: string,
  { name, flags }: {
    readonly name: string;
    readonly flags: readonly FlagSpec[];
  },
  io: SettingsIo,
): Promise<readonly (readonly [string, Entry])[]> {
  const settings = await parseSettings(
    await io.readFile(path, MAX_BYTES),
    path,
  );
  // A file cannot name another file.
  const settable = flags.filter((flag) => flag.name !== "config");
  const names = settable.map((flag) => settingName(flag.name));
  return Object.entries(settings).map(([member, value]) => {
    const flag = settable[names.indexOf(member)];
    const place = `${quote(member)} in ${quote(path)}`;
    if (flag === undefined) throw unknown("setting", member, names, name, path);
    return [flag.name, { name: place, texts: textsOf(flag, value, place) }];
  });
}

/** An object as strict JSON, or as YAML, whose parser is loaded for it alone. */
async function parseSettings(
  bytes: Uint8Array,
  path: string,
): Promise<{ readonly [name: string]: unknown }> {
  const wrong = (why: string) =>
    usageError(`${quote(path)} ${why}`, {
      flag: "--config",
      hint: "For example: issuer: [acme.example]",
    });
  let value: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = /^\s*\{/.test(text)
      ? parseJson(text)
      : (await import("@std/yaml/parse")).parse(text, { schema: "core" });
  } catch (error) {
    if (error instanceof JsonError) {
      throw wrong(`is not valid JSON: ${error.message}`);
    }
    if (isSigError(error) || !(error instanceof Error)) throw error;
    // The parser's own text quotes the file, which may hold a password.
    const line = /line (\d+)/.exec(error.message)?.[1];
    throw wrong(`is not valid YAML${line ? ` (line ${line})` : ""}`);
  }
  // A file of comments alone sets nothing.
  if (value === null) return {};
  if (!isObject(value)) throw wrong("must contain names with their values");
  return value;
}

/** A variable's text as its flag takes it: a list has commas between. */
function entryOf(flag: FlagSpec, text: string, name: string): Entry {
  const list = text.split(",").map((each) => each.trim())
    .filter((each) => each !== "");
  const value = flag.value === undefined
    ? ["true", "false"].includes(text) ? text === "true" : text
    : flag.repeat
    // Commas alone are variables that were not set, where a list was meant.
    ? list.length === 0 ? text : list
    : text;
  return { name, texts: textsOf(flag, value, name) };
}

/** A value as the texts that a flag is given; none for a switch that is off. */
function textsOf(
  { value: placeholder, repeat }: FlagSpec,
  value: unknown,
  name: string,
): readonly string[] {
  const wrong = (what: string) =>
    usageError(`${name} must be ${what}`, { flag: name });
  if (placeholder === undefined) {
    if (typeof value !== "boolean") throw wrong("true or false");
    return value ? ["true"] : [];
  }
  if (repeat && !Array.isArray(value)) throw wrong(`a list of ${placeholder}`);
  return (repeat ? value as unknown[] : [value]).map((each) => {
    if (typeof each === "string" && each !== "") return each;
    if (typeof each === "number") return String(each);
    throw wrong(placeholder);
  });
}

function unknown(
  what: "variable" | "setting",
  name: string,
  known: readonly string[],
  program: string,
  path?: string,
): SigError {
  const near = suggest(name, known);
  return usageError(
    `unknown ${what} ${quote(name)}${
      path === undefined ? "" : ` in ${quote(path)}`
    }`,
    {
      ...(path === undefined ? {} : { flag: "--config" }),
      hint: near === undefined
        ? `See: ${program} --help`
        : `Did you mean ${near}?`,
    },
  );
}
