/** What is run on other platforms: suites of cases, and what they need. @module */

/** Where suites run. `node` has Node's modules, `browser` has none of them. */
export type Platform = "browser" | "node";

/** Servers on loopback, started by the test that runs the suites. */
export interface Servers {
  /** `127.0.0.1:<port>` of an issuer with one event, about `subject`. */
  readonly issuer: string;
  /** The subject, who has the role `deploy`. */
  readonly subject: string;
  /** Origin of a server that breaks the rules, by path. */
  readonly hostile: string;
  /** An issuer behind TLS, for platforms that choose whom they trust. */
  readonly tls?: {
    /** Its port; the certificate is for `name` only. */
    readonly port: number;
    readonly name: string;
    /** PEM of the authority that signed the certificate. */
    readonly authority: string;
  };
}

/** What suites are given: as JSON, so that every platform can read it. */
export interface Inputs {
  /**
   * Files in base64 by their path: others' vectors below `shared/`, our own
   * below `own/`.
   */
  readonly files: Readonly<Record<string, string>>;
  /** Absent: nothing is fetched. */
  readonly servers?: Servers;
}

/** Files by their path. */
export class FileTree {
  readonly #files: Inputs["files"];

  /** Takes the files as they were given. */
  constructor(files: Inputs["files"]) {
    this.#files = files;
  }

  /** The bytes of a file, undefined when there is none. */
  find(path: string): Uint8Array<ArrayBuffer> | undefined {
    const base64 = Object.hasOwn(this.#files, path)
      ? this.#files[path]
      : undefined;
    if (base64 === undefined) return undefined;
    return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  }

  /** The bytes of a file that must be there. */
  bytes(path: string): Uint8Array<ArrayBuffer> {
    const bytes = this.find(path);
    if (bytes === undefined) throw new Error(`Cannot read ${path}`);
    return bytes;
  }

  /** The value of a JSON file. */
  json<T>(path: string): T {
    return JSON.parse(new TextDecoder().decode(this.bytes(path))) as T;
  }

  /** The names in a folder, sorted. */
  list(folder: string): readonly string[] {
    const names = Object.keys(this.#files)
      .filter((path) => path.startsWith(`${folder}/`))
      .map((path) => path.slice(folder.length + 1).split("/", 1)[0]!);
    return [...new Set(names)].sort();
  }
}

/** What a suite sees. */
export interface SuiteContext {
  readonly files: FileTree;
  readonly platform: Platform;
  readonly servers: Servers | undefined;
}

/** What came of a suite. */
export interface SuiteResult {
  /** Cases looked at; a suite without any has failed. */
  readonly cases: number;
  /** Names of the cases that did not come out as required. */
  readonly wrong: readonly string[];
}

/** Runs the cases of one kind. */
export type Suite = (
  context: SuiteContext,
) => SuiteResult | Promise<SuiteResult>;

/** Counts cases whose outcome is compared with the required one. */
export class Tally implements SuiteResult {
  cases = 0;
  readonly wrong: string[] = [];

  /** Notes a case. */
  expect(name: string, outcome: unknown, required: unknown): void {
    this.cases++;
    if (outcome !== required) this.wrong.push(name);
  }

  /** Notes a case whose outcome is a value of JSON; members in any order. */
  expectValue(name: string, outcome: unknown, required: unknown): void {
    this.expect(name, canonical(outcome), canonical(required));
  }
}

/** One text for equal values. */
function canonical(value: unknown): string {
  return JSON.stringify(
    value,
    (_, each) =>
      each === null || typeof each !== "object" || Array.isArray(each)
        ? each
        : Object.entries(each).sort(([a], [b]) => a < b ? -1 : 1),
  );
}

/** Whether running succeeds; anything but the expected errors is thrown on. */
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
