export { checkIssuer } from "@sig/consumer";
