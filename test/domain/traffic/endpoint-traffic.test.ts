import { familyPortKey } from '../../../src/domain/traffic/service-frontends.js';
import { TrafficTable } from '../../../src/domain/traffic/traffic-table.js';
import { entryOf, FIRST, seenFlow } from '../../support/traffic/flows.js';

const entry = entryOf();
const all = () => ({ has: () => true });

function state(table: TrafficTable) {
  const { open, overdue, unresponsive } = table.ports().get(familyPortKey(entry))!.endpoints.get(FIRST)!;
  return { open, overdue, unresponsive };
}

describe('an endpoint', () => {
  let table: TrafficTable;
  beforeEach(() => {
    table = new TrafficTable(() => entry);
  });
  const begin = (count: number, from = 0): void => {
    for (let id = from; id < from + count; id++) table.began(seenFlow(id), 0);
  };

  it('is unresponsive after three connections that wait for more than a second', () => {
    begin(2);
    table.tidy(1_000, all);
    expect(state(table)).toEqual({ open: 2, overdue: 2, unresponsive: false });
    begin(1, 2);
    table.tidy(999, all);
    expect(state(table)).toEqual({ open: 3, overdue: 2, unresponsive: false });
    table.tidy(1_000, all);
    expect(state(table)).toEqual({ open: 3, overdue: 3, unresponsive: true });
  });

  it('is unresponsive after three connections that end without an answer, as refused ones do', () => {
    begin(3);
    for (let id = 0; id < 3; id++) table.ceased(seenFlow(id), 0);
    expect(state(table)).toEqual({ open: 0, overdue: 0, unresponsive: true });
  });

  it('counts each such connection once', () => {
    begin(2);
    table.tidy(1_000, all);
    for (let id = 0; id < 2; id++) table.ceased(seenFlow(id), 0);
    expect(state(table).unresponsive).toBe(false);
  });

  it('is no longer unresponsive after one answer, even a late one', () => {
    begin(3);
    table.tidy(1_000, all);
    table.changed(seenFlow(0, { replied: true }), 2_000);
    expect(state(table)).toEqual({ open: 3, overdue: 2, unresponsive: false });
  });

  it('is unresponsive after three more, once one was answered', () => {
    begin(2);
    table.tidy(1_000, all);
    table.changed(seenFlow(0, { replied: true }), 1_000);
    begin(2, 10);
    table.tidy(1_000, all);
    expect(state(table).unresponsive).toBe(false);
    begin(1, 20);
    table.tidy(1_000, all);
    expect(state(table).unresponsive).toBe(true);
  });

  it('does not wait for connections that a smaller sample leaves out', () => {
    for (let id = 0; id < 3; id++) table.began(seenFlow(id, { hash: 0xffff_ffff }), 0);
    table.began(seenFlow(9, { hash: 0 }), 0);
    table.sample(1);
    table.tidy(1_000, all);
    expect(state(table)).toEqual({ open: 1, overdue: 1, unresponsive: false });
  });

  it('is unresponsive although older connections were answered, also those found later', () => {
    for (let id = 0; id < 9; id++) table.found(seenFlow(id, { replied: true }), 0);
    begin(3, 100);
    table.tidy(1_000, all);
    expect(state(table).unresponsive).toBe(true);
    table.found(seenFlow(10, { replied: true }), 1_000);
    expect(state(table).unresponsive).toBe(true);
    table.began(seenFlow(200, { replied: true }), 1_000);
    expect(state(table).unresponsive).toBe(false);
  });

  it('is not unresponsive because of waiting connections that may be older than answered ones', () => {
    table.found(seenFlow(9, { replied: true }), 0);
    for (let id = 0; id < 5; id++) table.found(seenFlow(id), 0);
    table.tidy(1_000, all);
    expect(state(table)).toEqual({ open: 6, overdue: 5, unresponsive: false });
  });

  it('is unresponsive because of waiting connections of which a walk told before their beginning was heard of', () => {
    table.found(seenFlow(9, { replied: true }), 0);
    for (let id = 0; id < 3; id++) table.found(seenFlow(id), 0);
    begin(3);
    table.tidy(1_000, all);
    expect(state(table)).toEqual({ open: 4, overdue: 3, unresponsive: true });
  });

  it('is unresponsive when all connections found wait', () => {
    for (let id = 0; id < 5; id++) table.found(seenFlow(id), 0);
    table.tidy(1_000, all);
    expect(state(table)).toEqual({ open: 5, overdue: 5, unresponsive: true });
  });
});
