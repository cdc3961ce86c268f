/**
 * Taking over what an earlier version remembered (CHANGELOG, 0.1.0). Its pins
 * and cursors stay; the states that it had stored do not: the next refresh
 * verifies the whole feed and compares it with the pin.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";
import { joinBytes } from "@sig/core/internal";
import { Sha256 } from "@sig/jose/internal";
import type { OpenStoreOptions } from "../store/open_store.ts";
import {
  type RecordStore,
  storeUnavailable,
  type Unavailable,
} from "../store/record_store.ts";
import {
  checkedBytes,
  encodeChecked,
  type IssuerPin,
  type PinAcknowledgement,
  type PinIncident,
  type RecordName,
  shortenKids,
  type StoredPin,
} from "./pin.ts";
import { CURSORS, PINS } from "./pin_store.ts";

/** Before the keys of cursors, which were entries among the pins. */
const CURSOR_PREFIX = "cursor:";

/** What an entry was. */
interface OldBody {
  readonly pin: IssuerPin;
  readonly incident: Omit<PinIncident, "seen"> | null;
  readonly acknowledged: readonly PinAcknowledgement[];
  readonly inconsistency: string | null;
  readonly suspended: boolean;
  readonly place?: string;
  readonly source?: "https" | "http";
  readonly feed: {
    readonly ref: string;
    readonly public_only: boolean;
    readonly policy: string;
    readonly compared_at: string;
  };
}

interface OldCursor {
  readonly sequence: number;
  readonly event_id: string | null;
  readonly pin: IssuerPin | null;
}

interface Taken extends RecordName {
  readonly value: StoredPin | OldCursor;
}

/**
 * An entry of the earlier version as a record.
 *
 * @throws {SigError} `store_unavailable` for anything else.
 */
function takeOver(key: string, body: string, unavailable: Unavailable): Taken {
  try {
    return convert(key, body);
  } catch (error) {
    throw unavailable(
      "a pin of an earlier version is damaged",
      error,
      "Remove it with the earlier version, or use another store.",
    );
  }
}

function convert(key: string, body: string): Taken {
  if (key.startsWith(CURSOR_PREFIX)) {
    const { sequence, event_id, pin } = JSON.parse(body) as OldCursor;
    const id = key.slice(CURSOR_PREFIX.length);
    return { kind: CURSORS, id, value: { sequence, event_id, pin } };
  }
  const { pin, incident, feed, ...old } = JSON.parse(body) as OldBody;
  if (pin.issuer !== key || !/^[0-9a-f]{64}$/.test(pin.prefix_sha256)) {
    throw new TypeError("Cannot take over a pin: it is damaged");
  }
  const { place = "", source } = old;
  const isPlain = place.startsWith("http:") || feed.ref.startsWith("http:");
  const value: StoredPin = {
    pin,
    place,
    source: source ?? (isPlain ? "http" : "https"),
    public_only: feed.public_only,
    policy: feed.policy,
    compared_at: feed.compared_at,
    unusable: old.suspended,
    last_contradiction: old.inconsistency,
    incident: incident && { ...incident, seen: null },
    acknowledged: old.acknowledged,
    rewritten_from: [],
    lines: null,
  };
  return { kind: PINS, id: pin.issuer, value };
}

/**
 * Takes over the tables of version 1, within a transaction.
 *
 * @throws {SigError} `store_unavailable`
 */
export function upgradeOldTables(
  database: DatabaseSync,
  unavailable: Unavailable,
): void {
  const insert = database.prepare(
    "INSERT INTO record VALUES (?, ?, ?, NULL, ?)",
  );
  for (const row of database.prepare("SELECT * FROM pins").all()) {
    const { kind, id, value } = takeOver(
      String(row.issuer),
      String(row.body),
      unavailable,
    );
    const json = JSON.stringify(value);
    const bytes = checkedBytes({ kind, id }, json);
    const checksum = new Sha256().update(bytes).hex();
    insert.run(kind.name, id, crypto.randomUUID(), `${checksum} ${json}`);
  }
  database.exec("DROP TABLE rows; DROP TABLE states; DROP TABLE pins");
}

/** One record says that a store has nothing old any more. */
const VERSION = { name: "pin_store" };
const VERSION_ID = "version";

/** Never the time of anything: these records don't expire. */
const ANY_TIME = new Date(0);

/** Takes over the keys that the earlier version wrote into KV or Redis. */
export async function takeOverOldPins(
  store: RecordStore,
  text: string,
  options: OpenStoreOptions,
): Promise<void> {
  if (await store.get(VERSION, VERSION_ID, ANY_TIME) !== undefined) return;
  const entries = text.startsWith("kv:")
    ? await readOldKv(text.slice("kv:".length), store.place)
    : await readOldRedis(text, store.place, options);
  const unavailable = storeUnavailable.bind(undefined, store.place);
  const put = (kind: { readonly name: string }, id: string, text: string) =>
    store.put(kind, id, { text, expiresAtMs: null }, null, ANY_TIME);
  for (const [key, body] of entries) {
    const { kind, id, value } = takeOver(key, body, unavailable);
    const stored = "place" in value
      ? {
        ...value,
        pin: { ...value.pin, keys: await shortenKids(value.pin.keys) },
      }
      : value;
    await put(kind, id, await encodeChecked({ kind, id }, stored));
  }
  await put(VERSION, VERSION_ID, "2");
}

type Entries = readonly (readonly [key: string, body: string])[];

async function readOldKv(path: string, place: string): Promise<Entries> {
  const { openKvDatabase } = await import("../store/kv_connection.ts");
  const unavailable = storeUnavailable.bind(undefined, place);
  const database = await openKvDatabase(path || undefined, unavailable);
  try {
    return await database.run(async (kv) => {
      const parts = new Map<string, Uint8Array[]>();
      const bodies = kv.list<{ readonly bytes: Uint8Array }>({
        prefix: ["sig", "pins", "body"],
      });
      // By issuer, revision and part, in this order: the last revision stays.
      for await (const { key: [, , , issuer, , part], value } of bodies) {
        const before = part === 0 ? [] : parts.get(String(issuer)) ?? [];
        parts.set(String(issuer), [...before, value.bytes]);
      }
      return Array.from(parts, ([issuer, all]) => {
        const length = all.reduce((sum, each) => sum + each.length, 0);
        const body = new TextDecoder().decode(joinBytes(all, length));
        return [issuer, body] as const;
      });
    });
  } finally {
    await database.close();
  }
}

/** Returns issuers and bodies in turn. */
const OLD_REDIS = `
local found = {}
for _, issuer in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  local body = redis.call('HGET', 'sig:pin:' .. issuer, 'body')
  if body then
    table.insert(found, issuer)
    table.insert(found, body)
  end
end
return found
`;

async function readOldRedis(
  text: string,
  place: string,
  { password }: OpenStoreOptions,
): Promise<Entries> {
  const { connectRedis } = await import("../store/redis_connection.ts");
  const { parseRedisUrl } = await import("../store/redis_connection.ts");
  const address = parseRedisUrl(text);
  const redis = await connectRedis(
    password === undefined ? address : { ...address, password },
    { unavailable: storeUnavailable.bind(undefined, place) },
  );
  try {
    const found = await redis.run(OLD_REDIS, ["sig:pins"], []);
    return Array.from(
      { length: found.length / 2 },
      (_, i) => [found[2 * i]!, found[2 * i + 1]!],
    );
  } finally {
    await redis.close();
  }
}
