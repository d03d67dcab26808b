import { Boxes } from "./boxes.js";
import { start } from "./desk.js";
import { Spans } from "./spans.js";

start({ long_answer: Boxes, short_answer: Spans });
