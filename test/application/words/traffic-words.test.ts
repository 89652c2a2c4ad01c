import { bytesText } from '../../../src/application/words/traffic-words.js';

it.each([
  [0, '0 B'],
  [0.4, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [1536, '1.5 KiB'],
  [5 * 1024 ** 2, '5.0 MiB'],
  [5 * 1024 ** 3, '5.0 GiB'],
  [5 * 1024 ** 4, '5.0 TiB'],
  [5000 * 1024 ** 4, '5000.0 TiB'],
])('%d bytes are %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});
