export { isSigError } from "@sig/core";
