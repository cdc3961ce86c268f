/**
 * Pin stores for `createConsumer`: a memory of issuers that survives restarts
 * and can be shared by processes (docs/protocol.md §6).
 *
 * @example Two consumers with one memory
 * ```ts
 * import { createConsumer } from "@sig/consumer";
 * import { createMemoryStore } from "@sig/consumer/store";
 *
 * const pins = createMemoryStore();
 * const first = createConsumer({ issuers: ["acme.example"], pins });
 * const second = createConsumer({ issuers: ["acme.example"], pins });
 * ```
 *
 * @module
 */
export {
  type Cosignature,
  cosignCheckpoint,
  type CosignOptions,
} from "./evidence/cosign.ts";
export {
  type AcknowledgeOptions,
  acknowledgePin,
  listPins,
  type Nullable,
  type PinRecord,
  removePin,
  type ServedHistory,
  showPin,
} from "./follow/manage_pins.ts";
export type {
  KeyAdded,
  PinAcknowledgement,
  PinIncident,
  PinnedFeed,
  PinnedProof,
  PinnedRecovery,
  Seen,
  SeenFeed,
  SeenProof,
  Served,
  Thumbprints,
} from "./memory/pin.ts";
export { openPinStore, type PinStore } from "./memory/open_pin_store.ts";
