"""Short names of characters that do not show themselves; the page has the same table (`ui/src/text/characters.ts`)."""

_TABLE = """
0 NUL; 1 SOH; 2 STX; 3 ETX; 4 EOT; 5 ENQ; 6 ACK; 7 BEL; 8 BS; b VT; c FF; d CR; e SO; f SI; 10 DLE; 11 DC1;
12 DC2; 13 DC3; 14 DC4; 15 NAK; 16 SYN; 17 ETB; 18 CAN; 19 EM; 1a SUB; 1b ESC; 1c FS; 1d GS; 1e RS; 1f US;
7f DEL; 85 NEL; 9b CSI; 9d OSC; 2028 LS; 2029 PS; 61c ALM; 200e LRM; 200f RLM; 202a LRE; 202b RLE; 202c PDF;
202d LRO; 202e RLO; 2066 LRI; 2067 RLI; 2068 FSI; 2069 PDI; ad SHY; 34f CGJ; 115f HF; 1160 HF; 17b4 KIV;
17b5 KIV; 180e MVS; 200b ZWSP; 200c ZWNJ; 200d ZWJ; 2060 WJ; 2061 FA; 2062 IT; 2063 IS; 2064 IP;
2800 BRAILLE; 3164 HF; feff BOM; ffa0 HF; fffc OBJ; a0 NBSP; 1680 OGHAM; 2000 ENQUAD; 2001 EMQUAD; 2002 ENSP;
2003 EMSP; 2004 3/EM; 2005 4/EM; 2006 6/EM; 2007 FIGSP; 2008 PUNCSP; 2009 THINSP; 200a HAIRSP; 202f NNBSP;
205f MATHSP; 3000 IDSP
"""

NAMES = {int(code, 16): short for code, short in (row.split() for row in _TABLE.replace("\n", " ").split(";"))}
"""Code point to the name that stands in a mark."""

BLANK = "\u00a0\u115f\u1160\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0"
"""What is drawn as a blank, as it stands between the brackets of a regular expression; the page has the same."""
