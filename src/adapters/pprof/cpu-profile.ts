import type { Profiler } from 'node:inspector';
import { ProfileBuilder, type Frame } from './profile-builder.js';

/** V8's name for idle time. */
const IDLE = '(idle)';
const ROOT = '(root)';

/**
 * Converts V8's CPU profile to pprof's format: for each stack, the number of samples and the time.
 * @param interval between samples, in microseconds
 * @param started milliseconds since the epoch
 */
export function cpuProfile(profile: Profiler.Profile, interval: number, started: number): Uint8Array {
  const builder = new ProfileBuilder([
    { type: 'samples', unit: 'count' },
    { type: 'cpu', unit: 'nanoseconds' },
  ]);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(
    profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
  );
  const samples = new Map<number, { count: number; microseconds: number }>();
  profile.samples?.forEach((id, index) => {
    const tally = samples.get(id) ?? { count: 0, microseconds: 0 };
    tally.count++;
    // A sample's own delta is the time since the previous sample, so its duration is the next delta.
    tally.microseconds += Math.max(0, profile.timeDeltas?.[index + 1] ?? interval);
    samples.set(id, tally);
  });
  for (const [id, { count, microseconds }] of samples) {
    const stack: Frame[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = nodes.get(at)?.callFrame;
      if (frame && frame.functionName !== ROOT) stack.push(frame);
    }
    if (stack[0] && stack[0].functionName !== IDLE) builder.add(stack, [count, microseconds * 1000]);
  }
  return builder.build(interval * 1000, started, (profile.endTime - profile.startTime) / 1000);
}
