/** The keys of this browser, for all views. @module */

import { useLayoutEffect, useState } from "preact/hooks";
import {
  type BrowserKey,
  createKey,
  forgetKey,
  type FoundKeys,
  keepKey,
  loadKey,
  loadKeys,
  type Missing,
  signingKeyAmong,
} from "../../browser/key_store.ts";
import {
  createPasskey,
  mayUsePasskeys,
  openPasskey,
} from "../../browser/passkey.ts";

/** The keys, and the actions on them. */
export type Keys = ReturnType<typeof useKeys>;

/** Why a browser can't hold keys. */
export const UNSUPPORTED_TEXTS: Readonly<Record<Missing, string>> = {
  insecure:
    "Browsers store keys only for pages on https or on this machine, and this page is neither.",
  ed25519: "This browser can't sign with Ed25519 yet. A newer version can.",
  storage:
    "This browser does not let the page store anything, as in some private windows.",
};

/** Loads the stored keys, and applies the changes of this page. */
export function useKeys(found: Promise<FoundKeys>) {
  const [loaded, setLoaded] = useState<
    { missing: Missing | undefined; all: readonly BrowserKey[] } | undefined
  >();
  const [passkeys, setPasskeys] = useState(false);
  const missing = loaded?.missing;
  const all: readonly BrowserKey[] = loaded?.all ?? [];
  const place = nameBrowser(navigator.userAgent);
  const change = async <T>(work: Promise<T>): Promise<T> => {
    const done = await work;
    setLoaded({ missing, all: await loadKeys() });
    return done;
  };
  // Before the first paint, so that the page is not painted twice.
  useLayoutEffect(() => {
    void found.then(({ missing, keys }) => setLoaded({ missing, all: keys }));
    void mayUsePasskeys().then(setPasskeys);
  }, []);
  return {
    /** Whether the stored keys are loaded. */
    ready: loaded !== undefined,
    missing,
    /** All keys, newest first. */
    all,
    /** The key that signs. */
    current: signingKeyAmong(all),
    /** Whether passkeys can be tried here. */
    passkeys: passkeys && loaded !== undefined && missing === undefined,
    /** Creates a key, which then signs. */
    create: () => change(createKey(place)),
    /** Adds the key of a new or existing passkey, which then signs. */
    async addPasskey(isNew: boolean) {
      const name = `${location.hostname}, ${new Date().toLocaleDateString()}`;
      const key = isNew ? await createPasskey(name) : await openPasskey();
      // From the storage: a new name may not be on the page yet.
      const known = await loadKey(key.did) ?? { ...key, place };
      await change(keepKey({ ...known, chosenAt: nowText() }));
    },
    /** Selects another key for signing, also after a reload. */
    async choose(did: string) {
      const key = await loadKey(did);
      if (key) await change(keepKey({ ...key, chosenAt: nowText() }));
    },
    async rename(key: BrowserKey, name: string) {
      await change(keepKey({ ...await loadKey(key.did) ?? key, name }));
    },
    /** Deletes a key permanently. */
    forget: (did: string) => change(forgetKey(did)),
  };
}

function nowText(): string {
  return new Date().toISOString();
}

const BROWSERS = [
  [/\bEdg\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\//, "Firefox"],
  [/\b(?:Headless)?Chrom(?:e|ium)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
] as const;
const SYSTEMS = [
  [/\b(?:iPhone|iPad)\b/, "iOS"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
] as const;

/** A browser and its system: "Firefox on Linux". */
function nameBrowser(userAgent: string): string {
  const find = (known: readonly (readonly [RegExp, string])[]) =>
    known.find(([pattern]) => pattern.test(userAgent))?.[1];
  const browser = find(BROWSERS) ?? "a browser";
  const system = find(SYSTEMS);
  return system === undefined ? browser : `${browser} on ${system}`;
}
