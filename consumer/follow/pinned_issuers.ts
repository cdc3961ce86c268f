/** Pins of issuers whose state is gone, in bounded space. @module */

import { parseIpBytes } from "../fetch/public_address.ts";
import type { PinnedIssuer } from "./issuer_record.ts";

/**
 * Pins by DID. When there are too many, one of the site that has most of
 * them goes, the one that was kept first: whoever makes up issuers under a
 * domain of their own (`*.mallory.example`) only pushes out their own.
 */
export class PinnedIssuers {
  readonly #max: number;
  readonly #sites = new Map<string, Map<string, PinnedIssuer>>();
  /** The sites that have so many pins, each set in the order of use. */
  readonly #bySize: Set<string>[] = [];
  #size = 0;

  /** Keeps so many. */
  constructor(max: number) {
    this.#max = max;
  }

  /** How many there are. */
  get size(): number {
    return this.#size;
  }

  /** Keeps one. */
  keep(did: string, host: string, pinned: PinnedIssuer): void {
    const site = siteOf(host);
    this.#drop(site, did);
    const ofSite = this.#sites.get(site) ?? new Map<string, PinnedIssuer>();
    this.#sites.set(site, ofSite.set(did, pinned));
    this.#resized(site, ofSite.size - 1, ofSite.size);
    while (this.#size > this.#max) this.#dropOne();
  }

  /** Gives one back, and keeps it no longer. */
  take(did: string, host: string): PinnedIssuer | undefined {
    const site = siteOf(host);
    const pinned = this.#sites.get(site)?.get(did);
    this.#drop(site, did);
    return pinned;
  }

  #dropOne(): void {
    const [site = ""] = this.#bySize.at(-1) ?? [];
    const [did = ""] = this.#sites.get(site)?.keys() ?? [];
    this.#drop(site, did);
  }

  #drop(site: string, did: string): void {
    const ofSite = this.#sites.get(site);
    if (!ofSite?.delete(did)) return;
    if (ofSite.size === 0) this.#sites.delete(site);
    this.#resized(site, ofSite.size + 1, ofSite.size);
  }

  #resized(site: string, from: number, to: number): void {
    this.#size += to - from;
    this.#bySize[from]?.delete(site);
    if (to > 0) (this.#bySize[to] ??= new Set()).add(site);
    while (this.#bySize.length > 0 && !this.#bySize.at(-1)?.size) {
      this.#bySize.pop();
    }
  }
}

/**
 * What one owner can make any number of: names below a domain, ports of an
 * address. The last two labels, without a list of public suffixes: where they
 * are one (`co.uk`, `github.io`), those below it share a site, and lose
 * pins to each other sooner than to others.
 */
function siteOf(host: string): string {
  const name = host.replace(/^\[|\]$/g, "");
  if (parseIpBytes(name) !== undefined) return name;
  return name.split(".").slice(-2).join(".");
}
