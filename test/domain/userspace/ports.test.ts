import fc from 'fast-check';
import {
  NoPortLeftError,
  PortAllocator,
  parsePortRange,
} from '../../../src/domain/userspace/port-allocator.js';
describe('parsePortRange', () => {
  it.each([
    ['', 0, 0],
    ['0', 0, 0],
    ['0-0', 0, 0],
    ['40000', 40000, 40000],
    [' 40000-40010\n', 40000, 40010],
    ['40000+10', 40000, 40010],
    ['65535', 65535, 65535],
  ])('reads %j', (text, low, high) => {
    expect(parsePortRange(text)).toEqual({ low, high });
  });

  it.each(['x', '1-', '-1', '1-2-3', '1 - 2', '65536', '1-65536', '65535+1', '2-1', '1e3', '0x10', '1,2'])(
    'refuses %j',
    (text) => {
      expect(parsePortRange(text)).toBeUndefined();
    },
  );
});

describe('PortAllocator', () => {
  it('leaves the choice to the kernel without a range', () => {
    const allocator = new PortAllocator({ low: 0, high: 0 }, Math.random);
    expect([allocator.allocate(), allocator.allocate()]).toEqual([0, 0]);
    allocator.release(0);
  });

  it('searches upwards from a random place, and from the start after the end', () => {
    const allocator = new PortAllocator({ low: 10, high: 12 }, () => 0.5);
    expect([1, 2, 3].map(() => allocator.allocate())).toEqual([11, 12, 10]);
  });

  it('says which range is exhausted, and hands out what comes back', () => {
    const allocator = new PortAllocator({ low: 10, high: 11 }, Math.random);
    const taken = allocator.allocate();
    allocator.allocate();
    expect(() => allocator.allocate()).toThrow(NoPortLeftError);
    expect(() => allocator.allocate()).toThrow(
      'port allocation failed; there are no remaining ports left to allocate in the accepted range 10-11',
    );
    allocator.release(9);
    allocator.release(taken);
    expect(allocator.allocate()).toBe(taken);
  });

  it('never hands out a port twice, nor one outside', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.nat(9), { nil: undefined })), (moves) => {
        const allocator = new PortAllocator({ low: 100, high: 104 }, Math.random);
        const held: number[] = [];
        for (const move of moves) {
          if (move !== undefined && move < held.length) allocator.release(held.splice(move, 1)[0]!);
          else if (held.length === 5) expect(() => allocator.allocate()).toThrow(NoPortLeftError);
          else held.push(allocator.allocate());
          expect(new Set(held).size).toBe(held.length);
          for (const port of held) expect(port >= 100 && port <= 104).toBe(true);
        }
      }),
    );
  });
});
