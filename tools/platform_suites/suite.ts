/** Suites that run on other platforms, and their inputs. @module */

/** The platform of a run. Only `node` has Node's modules. */
export type Platform = "browser" | "node";

/** Loopback servers, started by the test that runs the suites. */
export interface Servers {
  /** `127.0.0.1:<port>` of an issuer with one event, about `subject`. */
  readonly issuer: string;
  /** The subject that has the role `deploy`. */
  readonly subject: string;
  /** Origin of a server that breaks the rules, by path. */
  readonly hostile: string;
  /** An issuer over TLS, for platforms that can trust a given authority. */
  readonly tls?: {
    /** The port; the certificate is for `name` only. */
    readonly port: number;
    readonly name: string;
    /** The authority's certificate as PEM. */
    readonly authority: string;
  };
}

/** The inputs of suites, as JSON, which every platform can read. */
export interface Inputs {
  /**
   * Files in base64 by path: vectors of other projects below `shared/`, this
   * project's below `own/`.
   */
  readonly files: Readonly<Record<string, string>>;
  /** Without servers, the suites that fetch are skipped. */
  readonly servers?: Servers;
}

/** Files by their path. */
export class FileTree {
  readonly #files: Inputs["files"];

  /** @param files Files in base64 by path. */
  constructor(files: Inputs["files"]) {
    this.#files = files;
  }

  /** Returns the bytes of a file, undefined if it is missing. */
  find(path: string): Uint8Array<ArrayBuffer> | undefined {
    const base64 = Object.hasOwn(this.#files, path)
      ? this.#files[path]
      : undefined;
    if (base64 === undefined) return undefined;
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  }

  /** Returns the bytes of a file; throws if it is missing. */
  bytes(path: string): Uint8Array<ArrayBuffer> {
    const bytes = this.find(path);
    if (bytes === undefined) throw new Error(`Cannot read ${path}`);
    return bytes;
  }

  /** Parses a JSON file. */
  json<T>(path: string): T {
    return JSON.parse(new TextDecoder().decode(this.bytes(path))) as T;
  }

  /** Returns the names in a folder, sorted. */
  list(folder: string): readonly string[] {
    const names = Object.keys(this.#files)
      .filter((path) => path.startsWith(`${folder}/`))
      .map((path) => path.slice(folder.length + 1).split("/", 1)[0]!);
    return [...new Set(names)].sort();
  }
}

/** The input of a suite. */
export interface SuiteContext {
  readonly files: FileTree;
  readonly platform: Platform;
  readonly servers: Servers | undefined;
}

/** The result of a suite. */
export interface SuiteResult {
  /** Number of cases; a suite without cases has failed. */
  readonly cases: number;
  /** Names of the failed cases. */
  readonly wrong: readonly string[];
}

/** Runs the cases of one kind. */
export type Suite = (
  context: SuiteContext,
) => SuiteResult | Promise<SuiteResult>;

/** Counts cases and compares their outcomes with the required ones. */
export class Tally implements SuiteResult {
  cases = 0;
  readonly wrong: string[] = [];

  /** Adds a case. */
  expect(name: string, outcome: unknown, required: unknown): void {
    this.cases++;
    if (outcome !== required) this.wrong.push(name);
  }

  /**
   * Adds a case whose outcome is a JSON value; the order of members is ignored.
   */
  expectValue(name: string, outcome: unknown, required: unknown): void {
    this.expect(name, canonical(outcome), canonical(required));
  }
}

/** Returns the same text for equal values. */
function canonical(value: unknown): string {
  return JSON.stringify(
    value,
    (_, each) =>
      each === null || typeof each !== "object" || Array.isArray(each)
        ? each
        : Object.entries(each).sort(([a], [b]) => a < b ? -1 : 1),
  );
}

/** Whether `run` succeeds; unexpected errors are rethrown. */
export async function isAccepted(
  run: () => unknown,
  isExpected: (error: unknown) => boolean,
): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    if (isExpected(error)) return false;
    throw error;
  }
}
