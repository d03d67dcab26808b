import { start } from "./desk.js";
import { Relevance } from "./relevance.js";

start({ relevance: Relevance });
