import {
  Function as ProfiledFunction,
  Line,
  Location,
  Profile,
  Sample,
  StringTable,
  ValueType,
} from 'pprof-format';

/** A place in the program, as in the inspector. Lines count from 0; -1 for code outside the program. */
export interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

/** The meaning of a sample's value: `cpu`, `nanoseconds`. */
export interface Meaning {
  readonly type: string;
  readonly unit: string;
}

/** Builds a profile in pprof's format from stacks and their values. Equal functions and places are written once. */
export class ProfileBuilder {
  private readonly strings = new StringTable();
  private readonly functions: ProfiledFunction[] = [];
  private readonly locations = new Map<string, Location>();
  private readonly samples: Sample[] = [];
  private readonly functionIds = new Map<string, number>();

  constructor(private readonly meanings: readonly Meaning[]) {}

  /**
   * @param stack the innermost frame first
   * @param values one for each meaning
   */
  add(stack: readonly Frame[], values: readonly number[]): void {
    const locationId = stack.map((frame) => this.locationOf(frame).id);
    this.samples.push(new Sample({ locationId, value: [...values] }));
  }

  /**
   * @param period between samples, in the unit of the last meaning
   * @param started milliseconds since the epoch
   * @param lasted milliseconds
   */
  build(period: number, started: number, lasted: number): Uint8Array {
    const types = this.meanings.map((meaning) => this.valueType(meaning));
    const last = this.meanings.at(-1)!;
    return new Profile({
      sampleType: types,
      sample: this.samples,
      location: [...this.locations.values()],
      function: this.functions,
      stringTable: this.strings,
      timeNanos: BigInt(Math.round(started)) * 1_000_000n,
      durationNanos: BigInt(Math.round(lasted)) * 1_000_000n,
      periodType: this.valueType(last),
      period,
      defaultSampleType: this.strings.dedup(last.type),
    }).encode();
  }

  private valueType({ type, unit }: Meaning): ValueType {
    return new ValueType({ type: this.strings.dedup(type), unit: this.strings.dedup(unit) });
  }

  private locationOf(frame: Frame): Location {
    const line = frame.lineNumber + 1;
    const functionId = this.functionOf(frame);
    const key = `${functionId} ${line}`;
    const known = this.locations.get(key);
    if (known) return known;
    const location = new Location({ id: this.locations.size + 1, line: [new Line({ functionId, line })] });
    this.locations.set(key, location);
    return location;
  }

  private functionOf({ functionName, url, lineNumber }: Frame): number {
    const name = functionName || '(anonymous)';
    const key = `${name} ${url} ${lineNumber}`;
    const known = this.functionIds.get(key);
    if (known !== undefined) return known;
    const id = this.functions.length + 1;
    const text = this.strings.dedup(name);
    this.functions.push(
      new ProfiledFunction({
        id,
        name: text,
        systemName: text,
        filename: this.strings.dedup(url),
        startLine: lineNumber + 1,
      }),
    );
    this.functionIds.set(key, id);
    return id;
  }
}
