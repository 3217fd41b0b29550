import { describe, expect, test } from "vitest";
import type { Placement, PlaceRequest } from "../../src/vendors/shared/relocation.ts";
import { recorded, VENDORS } from "./fixtures.ts";

interface FileRow extends Omit<PlaceRequest, "index"> {
  what: string;
  index?: PlaceRequest["index"];
  placement: Placement;
}

interface ArchiveRow {
  what: string;
  printed: object;
  folder: string;
  rewritten: object | null;
}

const RELOCATING = VENDORS.filter(({ adapter }) => adapter.storage.relocation !== undefined);

test("A4: every vendor that finds a conversation only from its folder says how one is carried", () => {
  expect(RELOCATING.map(({ vendor }) => vendor)).toEqual(["gemini", "opencode", "pi", "qwen", "cursor"]);
});

const FILED = RELOCATING.filter(({ adapter }) => adapter.storage.relocation?.kind === "file");
const ARCHIVED = RELOCATING.filter(({ adapter }) => adapter.storage.relocation?.kind === "archive");

describe.each(FILED)("$vendor", ({ vendor, adapter }) => {
  const place = (request: PlaceRequest): Placement => {
    const { relocation } = adapter.storage;
    return relocation?.kind === "file" ? relocation.place(request) : { impossible: "it is no file" };
  };

  test.each(recorded(vendor, "relocation.json") as FileRow[])("A4: $what", (row) => {
    const { path, firstLine, folder, index = {} } = row;
    expect(place({ path, firstLine, folder, index })).toEqual(row.placement);
  });

  const placed = (recorded(vendor, "relocation.json") as FileRow[]).flatMap(({ placement, ...row }) =>
    "impossible" in placement ? [] : [{ ...row, placement }],
  );

  test.each(placed)("A4: what was placed is at its place: $what", ({ folder, index = {}, placement }) => {
    const owners = Object.fromEntries(placement.files.map((file) => [file.path, file.text]));
    const { path, firstLine } = placement;
    const again = place({ path, firstLine, folder, index: { ...index, ...owners } });
    expect(again).toMatchObject({ path, firstLine });
  });
});

describe.each(ARCHIVED)("$vendor", ({ vendor, adapter }) => {
  test.each(recorded(vendor, "relocation.json") as ArchiveRow[])("A4: $what", ({ printed, folder, rewritten }) => {
    const { relocation } = adapter.storage;
    const text = relocation?.kind === "archive" ? relocation.rewrite(JSON.stringify(printed), folder) : "[]";
    expect(JSON.parse(text ?? "null")).toEqual(rewritten);
  });
});
