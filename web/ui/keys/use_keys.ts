/** The keys of this browser, for all views. @module */

import { useLayoutEffect, useState } from "preact/hooks";
import {
  type BrowserKey,
  createKey,
  forgetKey,
  type FoundKeys,
  keepKey,
  loadKeys,
  type Missing,
} from "../libraries/login.ts";
import { nameBrowser } from "./this_browser.ts";

/** What views know of keys and do with them. */
export interface Keys {
  /** Whether it is known which there are. */
  readonly ready: boolean;
  /** Why no key can live here, if none can. */
  readonly missing: Missing | undefined;
  /** The newest first. */
  readonly all: readonly BrowserKey[];
  /** The one that signs. */
  readonly current: BrowserKey | undefined;
  /** Makes one, which signs from then on. */
  create(): Promise<BrowserKey>;
  /** Lets another one sign. */
  choose(did: string): void;
  /** Gives one a name. */
  rename(key: BrowserKey, name: string): Promise<void>;
  /** Deletes one for good. */
  forget(did: string): Promise<void>;
}

/** Begins with what was found, and keeps up with what this page does to them. */
export function useKeys(found: Promise<FoundKeys>): Keys {
  const [loaded, setLoaded] = useState<
    { missing: Missing | undefined; all: readonly BrowserKey[] } | undefined
  >();
  const [chosen, setChosen] = useState<string | undefined>();
  const missing = loaded?.missing;
  const all = loaded?.all ?? [];
  const reload = async () => setLoaded({ missing, all: await loadKeys() });
  // Before the first picture: whoever waits for the page waits for its keys.
  useLayoutEffect(() => {
    void found.then(({ missing, keys }) => setLoaded({ missing, all: keys }));
  }, []);
  return {
    ready: loaded !== undefined,
    missing,
    all,
    current: all.find(({ did }) => did === chosen) ?? all[0],
    async create() {
      const key = await createKey(nameBrowser(navigator.userAgent));
      setChosen(key.did);
      await reload();
      return key;
    },
    choose: setChosen,
    async rename(key, name) {
      await keepKey({ ...key, name });
      await reload();
    },
    async forget(did) {
      await forgetKey(did);
      await reload();
    },
  };
}
