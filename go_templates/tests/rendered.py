"""Templates with the text that Prometheus renders, for an alert with these labels and this value.

One test renders them here, another with promtool.
"""

LABELS = {"instance": "gpu-01.rack.example:9400", "gpu": "3", "job": "dcgm", "path": "a&b <c>"}
VALUE = 1234567.5

RENDERED = {
    "plain text": "plain text",
    "{{ $labels.instance }} at {{ $value }}": "gpu-01.rack.example:9400 at 1.2345675e+06",
    "{{ .Labels.gpu }}/{{ .Value }}": "3/1.2345675e+06",
    "[{{ $labels.missing }}]": "[]",
    "{{ $value | humanize }} {{ $value | humanize1024 }}": "1.235M 1.177Mi",
    "{{ humanize 0.00123 }} {{ humanize -1500.0 }} {{ humanize 0.0 }} {{ humanize 999.99 }}": "1.23m -1.5k 0 1000",
    "{{ humanizeDuration 3661.0 }} {{ humanizeDuration 90061.0 }} {{ humanizeDuration 59.9 }}": (
        "1h 1m 1s 1d 1h 1m 1s 59.9s"
    ),
    "{{ humanizeDuration 0.0 }} {{ humanizeDuration -62.0 }} {{ humanizeDuration 0.02 }}": "0s -1m 2s 20ms",
    '{{ humanizePercentage 0.1234 }} {{ humanizePercentage "1" }}': "12.34% 100%",
    "{{ humanizeTimestamp 1546300800.5 }}": "2019-01-01 00:00:00.5 +0000 UTC",
    "{{ (1546300800.0 | toTime).Year }} {{ (toTime 1546300800.0).Weekday }}": "2019 Tuesday",
    '{{ (toTime 1546300800.0).Format "2006-01-02T15:04:05Z07:00 Mon Jan" }}': "2019-01-01T00:00:00Z Tue Jan",
    '{{ parseDuration "1h30m" }}': "5400",
    "{{ $labels.instance | stripPort }} {{ $labels.instance | stripDomain }}": "gpu-01.rack.example gpu-01:9400",
    '{{ stripPort "[::1]:80" }} {{ stripDomain "10.0.0.1:80" }} {{ stripPort "a:b:c" }}': "::1 10.0.0.1:80 a:b:c",
    '{{ title "gpu is hot-ish" }} {{ toUpper "aé" }} {{ toLower "AÉ" }}': "Gpu Is Hot-Ish AÉ aé",
    '{{ reReplaceAll "(.*):(\\\\d+)" "$2/${1}" $labels.instance }}': "9400/gpu-01.rack.example",
    '{{ reReplaceAll "a*" "x" "baaac" }}': "xbxcx",
    '{{ reReplaceAll "" "-" "äb" }}': "-ä-b-",
    '{{ reReplaceAll "(a)|(b)" "<$1|${2}|$3|$$>" "abc" }}': "<a|||$><|b||$>c",
    '{{ reReplaceAll "(?i)[[:alpha:]]+" "w" "Das 1 ist 2" }}': "w 1 w 2",
    '{{ reReplaceAll "(?U)a+" "x" "aaa" }}': "xxx",
    '{{ match "(a|a)*c" "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab" }}': "false",
    '{{ match "(a+)+$" "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab" }}': "false",
    '{{ match "\\\\pL{2}\\\\z" "1äö" }}': "true",
    '{{ match "x.y" "x\\ny" }}{{ match "(?s:x.y)" "x\\ny" }}': "falsetrue",
    '{{ if match "^gpu-[0-9]+" $labels.instance }}gpu{{ else }}other{{ end }}': "gpu",
    '{{ graphLink "up == 0" }} {{ tableLink "a/b" }}': (
        "/graph?g0.expr=up+%3D%3D+0&g0.tab=0 /graph?g0.expr=a%2Fb&g0.tab=1"
    ),
    '{{ printf "%.2f|%8.1f|%d|%5s|%-5s|%q|%t|%x" $value 2.25 7 "a" "b" "c" true 255 }}': (
        '1234567.50|     2.2|7|    a|b    |"c"|true|ff'
    ),
    '{{ printf "%d" $value }} {{ printf "%s %s" "a" }}': "%!d(float64=1.2345675e+06) a %!s(MISSING)",
    "{{ html $labels.path }} {{ urlquery $labels.path }}": "a&amp;b &lt;c&gt; a%26b+%3Cc%3E",
    "{{ range $k, $v := $labels }}{{ $k }}={{ $v }};{{ end }}": (
        "gpu=3;instance=gpu-01.rack.example:9400;job=dcgm;path=a&b <c>;"
    ),
    "{{ with $labels.nope }}a{{ else }}b{{ end }}{{ if and $labels.gpu (gt $value 1.0) }}c{{ end }}": "bc",
    "{{ $x := 1 }}{{ range $labels }}{{ $x = . }}{{ end }}{{ $x }}": "a&b <c>",
    "a {{- /* note */ -}} b {{- 1 -}} c": "ab1c",
    '{{ define "t" }}<{{ . }}>{{ end }}{{ template "t" $labels.gpu }}': "<3>",
    '{{ range $labels }}{{ if eq . "3" }}{{ continue }}{{ end }}{{ . }}{{ break }}{{ end }}': (
        "gpu-01.rack.example:9400"
    ),
    "{{ 1000000.0 }} {{ 100000.0 }} {{ 0.00001 }} {{ 1e3 }} {{ 0x10 }} {{ 'a' }}": "1e+06 100000 1e-05 1000 16 97",
    '{{ len $labels }} {{ index $labels "gpu" }} {{ slice "abcdef" 1 3 }}': "4 3 bc",
    '{{ eq $labels.gpu "1" "3" }} {{ ne 1 2 }} {{ le "a" "b" }} {{ not true }}': "true true true false",
    '{{ (args 1 "b").arg1 }}': "b",
    "{{ $labels }}": "map[gpu:3 instance:gpu-01.rack.example:9400 job:dcgm path:a&b <c>]",
}
