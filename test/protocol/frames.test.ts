import * as fc from "fast-check";
import { expect, test } from "vitest";
import { FRAME_BYTES_MAX } from "../../src/limits/index.ts";
import { encodeFrame, FrameReader } from "../../src/protocol/frames.ts";

function readAll(reader: FrameReader): unknown[] {
  const values: unknown[] = [];
  for (let frame = reader.next(); frame; frame = reader.next()) values.push(frame.value);
  return values;
}

test("frames come out whole and in order, wherever the stream is cut", () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue(), { maxLength: 8 }),
      fc.array(fc.nat(400), { maxLength: 30 }),
      (values, cuts) => {
        const sent = values.map((value) => JSON.parse(JSON.stringify(value)) as unknown);
        const stream = Buffer.concat(sent.map((value) => encodeFrame(value)));
        const points = [0, ...cuts.map((cut) => cut % (stream.length + 1)), stream.length].toSorted((a, b) => a - b);
        const reader = new FrameReader();
        const received: unknown[] = [];
        for (const [i, point] of points.slice(1).entries()) {
          reader.push(stream.subarray(points[i], point));
          received.push(...readAll(reader));
        }
        expect(received).toEqual(sent);
      },
    ),
  );
});

test("text of any language and length in bytes is counted in bytes", () => {
  const reader = new FrameReader();
  reader.push(encodeFrame({ text: "żółw 🐢\u0000" }));
  expect(readAll(reader)).toEqual([{ text: "żółw 🐢\u0000" }]);
});

test("a frame of the limit goes through; one byte more is refused on both sides", () => {
  const most = "x".repeat(FRAME_BYTES_MAX - 2);
  const reader = new FrameReader();
  reader.push(encodeFrame(most));
  expect(readAll(reader)).toEqual([most]);
  expect(() => encodeFrame(`${most}x`)).toThrow(/exceeds the limit/);
});

test("an announced gigabyte is refused at its four bytes of length", () => {
  const reader = new FrameReader();
  reader.push(Buffer.from([0x40, 0, 0, 0]));
  expect(() => reader.next()).toThrow(/exceeds the limit/);
});

test("a frame that is not JSON is refused", () => {
  const reader = new FrameReader();
  reader.push(Buffer.from([0, 0, 0, 1, 0x7b]));
  expect(() => reader.next()).toThrow("A frame is not JSON.");
});
