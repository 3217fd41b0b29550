import { writeSync } from "node:fs";
import { closeStore, openStore } from "../../../src/store/open.ts";
import { SYNTHETIC } from "./synthetic-migrations.ts";

// Upgrades the store it is given; whoever started it may kill it at any moment after "begin".

const STDOUT = 1;
writeSync(STDOUT, "begin\n");
const { db } = openStore(process.argv[2] ?? "", { migrations: SYNTHETIC });
closeStore(db);
writeSync(STDOUT, "done\n");
