/** What every view is given. @module */

import type { ReadFeed } from "../feed/read_feed.ts";
import type { Keys } from "../keys/use_keys.ts";
import type { Api } from "../server/api.ts";
import type { Config } from "../server/config.ts";

/** The server and this browser, as far as views use them. */
export interface Site {
  readonly config: Config;
  readonly api: Api;
  readonly keys: Keys;
  readonly readFeed: ReadFeed;
}
