import { collectGarbage } from '../../../src/adapters/process/own-process.js';

it('frees unused memory, repeatedly', async () => {
  for (let time = 0; time < 2; time++) {
    const garbage: { all?: object[] } = { all: Array.from({ length: 200_000 }, (_, index) => ({ index })) };
    const before = process.memoryUsage().heapUsed;
    expect(garbage.all).toHaveLength(200_000);
    delete garbage.all;
    await collectGarbage();
    expect(process.memoryUsage().heapUsed).toBeLessThan(before - 4_000_000);
  }
});
