/**
 * Memory of issuers that outlives a process and is shared by several, for
 * `createConsumer` (docs/protocol.md §6).
 *
 * @example Two consumers with one memory
 * ```ts
 * import { createConsumer } from "@sig/consumer";
 * import { createMemoryPinStore } from "@sig/consumer/pins";
 *
 * const pins = createMemoryPinStore();
 * const first = createConsumer({ issuers: ["acme.example"], pins });
 * const second = createConsumer({ issuers: ["acme.example"], pins });
 * ```
 *
 * @module
 */
export {
  type AcknowledgeOptions,
  acknowledgePin,
  listPins,
  type PinRecord,
  removePin,
  showPin,
} from "./follow/pin_records.ts";
export type {
  PinAcknowledgement,
  PinIncident,
} from "./follow/remembered_body.ts";
export type { IssuerPin } from "./pins/issuer_pin.ts";
export { createMemoryPinStore } from "./pins/memory_pin_store.ts";
export {
  type PinEntry,
  type PinRow,
  type PinStore,
  RowsTooLarge,
  StateMoved,
  type StateRef,
} from "./pins/pin_store.ts";
export {
  openPinStore,
  type OpenPinStoreOptions,
} from "./pins/open_pin_store.ts";
