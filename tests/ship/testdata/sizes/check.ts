export { check } from "@sig/core";
