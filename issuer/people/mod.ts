/**
 * The operator's people: reads and writes the people file, decides which keys
 * belong to one person, and resolves a text to a person or a key. It is for the
 * packages of this project and is not covered by semantic versioning.
 *
 * @example Which keys are one person
 * ```ts
 * import { People, readPeople } from "@sig/issuer/people";
 * import { assertEquals } from "@std/assert";
 *
 * const text = "subject,person,name\n" +
 *   "did:web:laptop.example,4711,Olga Berg\n" +
 *   "did:web:phone.example,4711,Olga Berg\n";
 * const people = new People(
 *   readPeople(new TextEncoder().encode(text), "people.csv"),
 * );
 * assertEquals(
 *   people.keyOf("did:web:phone.example"),
 *   people.keyOf("did:web:laptop.example"),
 * );
 * ```
 *
 * @module
 */
export {
  type CsvRow,
  decodeText,
  MAX_FAULTS,
  quoteCell,
  readCsv,
  RowFaults,
  separatorOf,
} from "./csv.ts";
export {
  Directory,
  type FoundPerson,
  type KnownKey,
  listFirst,
  namePeople,
  requireOneKey,
} from "./find_subject.ts";
export {
  People,
  type PersonConflict,
  type PersonName,
  type RootOf,
} from "./people.ts";
export {
  addPeople,
  foldUsername,
  MAX_PEOPLE_BYTES,
  PEOPLE_PATH,
  peopleFaults,
  type PersonKey,
  readPeople,
  readSubject,
  type SavedPeople,
  savePeople,
} from "./people_file.ts";
export { hiddenIn, KnownNames, SimilarNames } from "./similar_names.ts";
