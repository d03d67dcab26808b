import { start } from "./desk.js";

// For task types whose stages are plain forms, and for pages that only need the keys.
start({});
