import { schedulersFor } from '../../../src/domain/ipvs/compile.js';

const weighted = (method: 'random' | 'round-robin' | 'least-connections') => ({
  balancing: { method, isWeighted: true },
});

describe('schedulers for what a Service asks for', () => {
  it.each([
    [{}, []],
    [{ scheduler: 'lc' }, [{ scheduler: 'lc', flags: 0 }]],
    [{ balancing: { method: 'maglev', isWeighted: false } }, [{ scheduler: 'mh', flags: 0x10 }]],
    [
      { balancing: { method: 'maglev-source', isWeighted: true } },
      [
        { scheduler: 'mh', flags: 0 },
        { scheduler: 'sh', flags: 0 },
      ],
    ],
    [{ balancing: { method: 'round-robin', isWeighted: false } }, [{ scheduler: 'rr', flags: 0 }]],
    [weighted('round-robin'), [{ scheduler: 'wrr', flags: 0 }]],
    [weighted('random'), [{ scheduler: 'wrr', flags: 0 }]],
    [{ balancing: { method: 'least-connections', isWeighted: false } }, [{ scheduler: 'lc', flags: 0 }]],
    [weighted('least-connections'), [{ scheduler: 'wlc', flags: 0 }]],
    [
      { scheduler: 'mh', balancing: { method: 'round-robin', isWeighted: false } },
      [
        { scheduler: 'mh', flags: 0x10 },
        { scheduler: 'rr', flags: 0 },
      ],
    ],
  ] as const)('%j', (asked, schedulers) => {
    expect(schedulersFor(asked, 'rr')).toEqual(schedulers);
  });

  it('are no others for weights where the usual one looks at them', () => {
    expect(schedulersFor(weighted('random'), 'wlc')).toEqual([]);
    expect(schedulersFor(weighted('random'), 'lc')).toEqual([{ scheduler: 'wlc', flags: 0 }]);
  });
});
