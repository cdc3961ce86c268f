/** Reads a server's settings from a file and from variables. @module */

import { isSigError, JsonError, parseJson, type SigError } from "@sig/core";
import { isObject, quote, suggest } from "@sig/core/internal";
import { type FlagSpec, type GivenFlags, usageError } from "./flag.ts";
import { parseYaml } from "./yaml.ts";

/** The environment variables. */
export interface Variables {
  /** The values by name. */
  readonly values: { readonly [name: string]: string };
  /** Which variables could be read; `known` means only those of known names. */
  readonly looked: "all" | "known" | "none";
}

/** Access to the outside for reading settings. */
export interface SettingsIo {
  /** Reads a whole file. */
  readFile(path: string, maxBytes: number): Promise<Uint8Array>;
  /** Reads all variables, or the known ones that may be read. */
  variables(known: readonly string[]): Variables;
}

/** Settings of a platform that starts servers without a command line. */
export interface PlatformSettings {
  /** Older names of variables, with the flag of each. */
  readonly aliases: { readonly [variable: string]: string };
  /** Default values by flag. */
  readonly defaults: { readonly [flag: string]: string };
}

/** The settings of a server. */
export interface Settings {
  /** The flags, whatever the source of their values. */
  readonly flags: GivenFlags;
  /** Notes for the operator. */
  readonly notes: readonly string[];
}

/** Maximum size of a settings file in bytes. */
const MAX_BYTES = 256 * 1024;

/**
 * Variables that Kubernetes sets for a service named `sig-api`, unless
 * `enableServiceLinks` is off.
 */
const KUBERNETES_VARIABLE =
  /^SIG_(?:API|WEB)_(?:SERVICE_(?:HOST|PORT(?:_\w+)?)|PORT(?:_\d+_\w+)?)$/;

/** Returns the name of a flag in a settings file. */
export function settingName(flag: string): string {
  return flag.replaceAll("-", "_");
}

/** Returns the variable of a program's flag, such as `SIG_API_MAX_AGE`. */
export function variableName(program: string, flag: string): string {
  return settingName(`${program}-${flag}`).toUpperCase();
}

/** The value of a setting, and the setting's name in its source. */
interface Entry {
  readonly name: string;
  readonly texts: readonly string[];
}

/**
 * Adds settings to the flags that were given: variables, then the file of
 * `--config`, then a platform's defaults.
 *
 * @throws {SigError} `invalid_request` for an unknown name or an invalid value;
 * `source_not_found`, `document_too_large`.
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
  // In ascending order of precedence.
  const flagOf = new Map<string, FlagSpec>([
    ...Object.entries(aliases).flatMap(([variable, of]) =>
      flags.filter((flag) => flag.name === of)
        .map((flag) => [variable, flag] as const)
    ),
    ...flags.map((flag) => [variableName(name, flag.name), flag] as const),
  ]);
  const { values, looked } = io.variables([...flagOf.keys()]);
  for (const [variable, text] of Object.entries(values)) {
    const isKnown = flagOf.has(variable) || KUBERNETES_VARIABLE.test(variable);
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
  // A file can't name another file.
  const settable = flags.filter((flag) => flag.name !== "config");
  const names = settable.map((flag) => settingName(flag.name));
  return Object.entries(settings).map(([member, value]) => {
    const flag = settable[names.indexOf(member)];
    const place = `${quote(member)} in ${quote(path)}`;
    if (flag === undefined) throw unknown("setting", member, names, name, path);
    return [flag.name, { name: place, texts: textsOf(flag, value, place) }];
  });
}

/**
 * Parses an object as strict JSON or as YAML, whose parser is loaded only if
 * needed.
 */
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
      : await parseYaml(text, wrong);
  } catch (error) {
    if (error instanceof JsonError) {
      throw wrong(`is not valid JSON: ${error.message}`);
    }
    throw isSigError(error) ? error : wrong("is not UTF-8");
  }
  // A file with only comments sets nothing.
  if (value === null) return {};
  if (!isObject(value)) throw wrong("must contain names with their values");
  return value;
}

/**
 * Converts the text of a variable, which separates the items of a list by
 * commas.
 */
function entryOf(flag: FlagSpec, text: string, name: string): Entry {
  const list = text.split(",").map((each) => each.trim())
    .filter((each) => each !== "");
  const value = flag.value === undefined
    ? ["true", "false"].includes(text) ? text === "true" : text
    : flag.repeat
    // Only commas: probably unset variables in a list, so the text is rejected
    // below.
    ? list.length === 0 ? text : list
    : text;
  return { name, texts: textsOf(flag, value, name) };
}

/** Converts a value to texts as in flags; none for a switch that is off. */
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
