import { bytesText, countingWords } from '../../../../src/diagnostics/application/words.js';

it.each([
  [0, '0 B'],
  [0.4, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [1536, '1.5 KiB'],
  [2 ** 20, '1.0 MiB'],
  [5 * 1024 ** 2, '5.0 MiB'],
  [5 * 1024 ** 3, '5.0 GiB'],
  [5 * 1024 ** 4, '5.0 TiB'],
  [5000 * 1024 ** 4, '5000.0 TiB'],
])('%d bytes are %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});

it('says what is not seen or not counted, and nothing where all is', () => {
  const all = {
    complete: true,
    readRatio: 1,
    samplingRate: 1,
    eventLosses: 0,
    trackedConnections: 9,
    bytesCounted: true,
    servicesTracked: true,
  };
  const first = (parts: Partial<typeof all> & { readonly bridgedHidden?: boolean }) =>
    countingWords({ ...all, ...parts }).map((words) => words.slice(0, 40));
  expect(first({})).toEqual([]);
  expect(first({ servicesTracked: false })).toEqual(['connections through IPVS are not tracked']);
  expect(first({ bridgedHidden: true })).toEqual(['connections of pods to a dead endpoint o']);
  expect(countingWords({ ...all, complete: false, readRatio: 0.129 })).toEqual([
    'not complete yet: 12% of the connections have been read',
  ]);
  expect(countingWords({ ...all, samplingRate: 2 })).toEqual([
    'one in 2 connections is counted, and the numbers multiplied',
  ]);
  expect(first({ eventLosses: 1 })).toEqual(['events were lost once: some new connecti']);
  expect(first({ eventLosses: 2 })).toEqual(['events were lost 2 times: some new conne']);
});
