import { Validator } from "@cfworker/json-schema";
import { WARNING_CODES } from "@sig/core";
