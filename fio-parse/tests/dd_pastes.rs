//! Reports of dd as people paste them, each with the figures that a careful reader takes from it.
//!
//! The forms are those of real posts, cut down to what tools printed, commands and short words around them. Bytes,
//! seconds and the shell's time are copied from the text by hand.
//!
//! Long because the pastes stand in one table.

use fio_parse::record::Direction::{self, Read, Write};
use fio_parse::source::Log;

/// Direction where the text tells it, bytes, dd's seconds, the shell's seconds.
type Row = (Option<Direction>, u64, Option<f64>, Option<f64>);

/// What each paste is about, its text and its results.
const PASTES: &[(&str, &str, &[Row])] = &[
    (
        "lkit-busybox-time",
        r#"On my machine using a large block size speeds up swap file creation:

```
/ # time dd if=/dev/zero of=output bs=1024 count=1048576
1048576+0 records in
1048576+0 records out
real    0m 4.61s
user    0m 0.79s
sys     0m 3.77s
/ # time dd if=/dev/zero of=output bs=1048576 count=1024
1024+0 records in
1024+0 records out
real    0m 1.06s
user    0m 0.00s
sys     0m 1.04s
```
"#,
        &[
            (Some(Write), 1073741824, None, Some(4.61)),
            (Some(Write), 1073741824, None, Some(1.06)),
        ],
    ),
    (
        "fbsd-mail-wrap",
        r#">>>> # dd if=/dev/ad4 of=/dev/null bs=1m count=1000
>>>> 1000+0 records in
>>>> 1000+0 records out
>>>> 1048576000 bytes transferred in 17.647464 secs (59417943
>>>> bytes/sec)

I get the following speeds for _sequential_ reading from the outer tracks:

%%%
ad0 bs 512: 16777216 bytes transferred in 2.788209 secs (6017201 bytes/sec)
ad0 bs 1024: 16777216 bytes transferred in 1.433675 secs (11702245 bytes/sec)
ad0 bs 2048: 16777216 bytes transferred in 0.787466 secs (21305320 bytes/sec)
%%%
"#,
        &[
            (Some(Read), 1048576000, Some(17.647464), None),
            (None, 16777216, Some(2.788209), None),
            (None, 16777216, Some(1.433675), None),
            (None, 16777216, Some(0.787466), None),
        ],
    ),
    (
        "fr-indented-mac",
        r#">Puis la commande sera : 

    sudo dd bs=1m if=Raspian.img of=/dev/disk2

>Au bout d'un certain temps il y aura un message

    $sudo dd bs=1m if=Raspian.img of=/dev/disk2
    Password:
    974+1 records in
    974+1 records out
    1021592274 bytes transferred in 480.752682 secs (2124985 bytes/sec)
###Sous Windows
* Autre chose
"#,
        &[(Some(Write), 1021592274, Some(480.752682), None)],
    ),
    (
        "binary-noise",
        r#"```shell
# Read the 100th 512-byte block of the device /dev/sda
root@sandbox:/home/ec2-user# dd if=/dev/sda  bs=512 skip=100 count=1
pp p?@P??i??P??8?|h?ppp?P??+??P??s.h?pp
np?P??+??P???s.h?pp?
                   p?P??+??P?ks.h?pp??P??}s.h?1+0 records in
1+0 records out
512 bytes copied, 6.0645e-05 s, 8.4 MB/s
```
"#,
        &[(Some(Read), 512, Some(6.0645e-05), None)],
    ),
    (
        "ru-two-jobs",
        r#"[me@box ~]$ 2048+0 записей получено
2048+0 записей отправлено
 скопировано 2147483648 байт (2,1 GB), 4,17328 c, 515 MB/c
2048+0 записей получено
2048+0 записей отправлено
 скопировано 2147483648 байт (2,1 GB), 5,39265 c, 398 MB/c

[1]-  Done                    ionice -c 2 -n $PRIO dd if=/dev/zero of=/tmp/prio-${PRIO}.2Gb bs=1M count=2048 oflag=direct
[2]+  Done                    ionice -c 2 -n $PRIO dd if=/dev/zero of=/tmp/prio-${PRIO}.2Gb bs=1M count=2048 oflag=direct
"#,
        &[
            (None, 2147483648, Some(4.17328), None),
            (None, 2147483648, Some(5.39265), None),
        ],
    ),
    (
        "ru-raid5-progress",
        r#"We are going to write 200MiB of data, each block being 4KiB long at a time of write IO:

```markdown
# dd if=/dev/random of=raid5ext4mp/a.dat oflag=direct bs=4K count=51200 status=progress
192331776 байтов (192 MB, 183 MiB) скопировано, 8 s, 24,0 MB/s
51200+0 записей получено
51200+0 записей отправлено
209715200 байтов (210 MB, 200 MiB) скопировано, 8,69378 s, 24,1 MB/s
```
"#,
        &[(Some(Write), 209715200, Some(8.69378), None)],
    ),
    (
        "zsh-nice-time",
        r#"I am running 2.4.13-ac4, with a swapoff patch.

This is the command I used.

time nice -n -20 dd if=/dev/zero of=/mp3/foobara bs=1024k count=1024
1024+0 records in
1024+0 records out
0.02s user 23.95s system 20% cpu 1:57.24 total

And here is the vmstat output...

 r  b  w   swpd   free   buff  cache  si  so    bi    bo   in    cs  us  sy  id
 0  0  0      0 112636  18728  78352   0   0    58  2139  145    90   5  10  85
"#,
        &[(Some(Write), 1073741824, None, Some(117.24))],
    ),
    (
        "usb-comment-tail",
        r#"Write test:

```bash
root@board:~# dd if=/dev/zero of=/run/media/sda1/test bs=1M count=500 conv=fsync
500+0 records in
500+0 records out
524288000 bytes (524 MB, 500 MiB) copied, 46.2811 s, 11.3 MB/s//The write speed is limited to the specific storage device.
```

Read test:

**Note: To ensure accurate data, restart the development board before testing the read speed.**

```bash
root@board:~# dd if=/run/media/sda1/test of=/dev/null bs=1M
500+0 records in
500+0 records out
524288000 bytes (524 MB, 500 MiB) copied, 22.4822 s, 23.3 MB/s  
```
"#,
        &[
            (Some(Write), 524288000, Some(46.2811), None),
            (Some(Read), 524288000, Some(22.4822), None),
        ],
    ),
    (
        "ioerror-quoted",
        r#"> me@box:~$ sudo dd if=/dev/sdb of=/dev/sdc
dd: writing to `/dev/sdc': Input/output error
551993+0 records in
551992+0 records out
282619904 bytes (283 MB) copied, 97.0593 s, 2.9 MB/s
"#,
        &[(Some(Write), 282619904, Some(97.0593), None)],
    ),
    (
        "ko-progress",
        r#"[me@me]:/media/me/0F76-2DD9$ sudo dd bs=4M if=/dev/mmcblk0p1 of=/home/me/Downloads/copy.img status=progress
[sudo] password for me: 
31096569856 bytes (31 GB, 29 GiB) copied, 1152.15 s, 27.0 MB/s
7415+0 레코드 들어옴
7415+0 레코드 나감
31100764160 bytes (31 GB, 29 GiB) copied, 1152.29 s, 27.0 MB/s
"#,
        &[(Some(Write), 31100764160, Some(1152.29), None)],
    ),
    (
        "fullblock-noreport",
        r#"        me@box ~ $ rnd64 -f 4g | pv > /dev/null
        4GiB 0:00:00 [8.51GiB/s] [  <=>  ]

        me@box ~ $ dd if=/dev/zero of=/dev/null bs=4G count=1 iflag=fullblock
        4294967296 bytes (4.3 GB, 4.0 GiB) copied, 0.959431 s, 4.5 GB/s

        [me@other ~]$ rnd64 -f 4g | pv > /dev/null
        4GiB 0:00:01 [3.75GiB/s] [     <=>     ]
"#,
        &[(Some(Read), 4294967296, Some(0.959431), None)],
    ),
    (
        "fr-halftranslated-comments",
        r#"## Can take long on large cards!
sudo dd if=/dev/zero of=/dev/sda
## dd: écriture vers '/dev/sda': Aucun espace disponible sur le périphérique
## 250085377+0 enregistrements lus
## 250085376+0 enregistrements écrits
## 128043712512 bytes (128 GB, 119 GiB) copied, 36658 s, 3,5 MB/s

## Download raspbian
wget http://downloads.example.org/lite-latest
"#,
        &[(Some(Write), 128043712512, Some(36658.0), None)],
    ),
    (
        "de-dots",
        r#"Comparison:

```
me@box:~$ dd if=/dev/urandom of=/dev/null
211903+0 Datensätze ein
211902+0 Datensätze aus
108493824 Bytes (108 MB) kopiert, 19.6147 s, 5.5 MB/s
```

```
me@box:~$ dd if=/dev/frandom of=/dev/null
2148375+0 Datensätze ein
2148374+0 Datensätze aus
1099967488 Bytes (1.1 GB) kopiert, 7.41137 s, 148 MB/s
```
"#,
        &[
            (Some(Read), 108493824, Some(19.6147), None),
            (Some(Read), 1099967488, Some(7.41137), None),
        ],
    ),
    (
        "pi-ssd-weird-read",
        r#"Write test

```
$ dd if=/dev/zero of=speedTestFile bs=20M count=5 oflag=direct
5+0 records in
5+0 records out
104857600 bytes (105 MB, 100 MiB) copied, 0.520918 s, 201 MB/s
```

Read Test

```
$ dd if=speedTestFile of=/dev/zero bs=20M count=5 oflag=dsync
5+0 records in
5+0 records out
104857600 bytes (105 MB, 100 MiB) copied, 0.494158 s, 212 MB/s
```

----
This is still a work in progress.
"#,
        &[
            (Some(Write), 104857600, Some(0.520918), None),
            (Some(Read), 104857600, Some(0.494158), None),
        ],
    ),
    (
        "go-comments",
        r#"	// dd if=/dev/zero of=/root/100MB.test bs=4k count=25600 oflag=direct
	//25600+0 records in
	//25600+0 records out
	//104857600 bytes (105 MB, 100 MiB) copied, 15.034 s, 7.0 MB/s
	// dd if=/dev/zero of=/root/1GB.test bs=1M count=1000 oflag=direct
	//1000+0 records in
	//1000+0 records out
	//1048576000 bytes (1.0 GB, 1000 MiB) copied, 2.7358 s, 383 MB/s
"#,
        &[
            (Some(Write), 104857600, Some(15.034), None),
            (Some(Write), 1048576000, Some(2.7358), None),
        ],
    ),
    (
        "copied-nothing",
        r#"```bash
dd if=/dev/zero of=file.bin bs=1M count=100
# if=/dev/zero  : Source
# bs=1M         : Block size 1 MegaOctet

# Résultat:
# 100+0 records in
# 100+0 records out
# 104857600 bytes (105 MB, 100 MiB) copied

# Fichier rempli
```
"#,
        &[(Some(Write), 104857600, None, None)],
    ),
    (
        "ssh-two-locales",
        r#"        18:11:19 INFO  dd if=/dev/vg/snap1 bs=1M | /usr/bin/ssh -q deb2 dd bs=1M of=/dev/mapper/vg-data
        1024+0 records in
        1024+0 records out
        1073741824 bytes (1.1 GB) copied, 22.5169 s, 47.7 MB/s
        0+63178 enregistrements lus
        0+63178 enregistrements écrits
        1073741824 octets (1,1 GB) copiés, 22,4865 s, 47,8 MB/s
        18:11:42 INFO    SYNC#2  /usr/bin/scp -q state deb2:/opt/x
"#,
        &[
            (None, 1073741824, Some(22.5169), None),
            (None, 1073741824, Some(22.4865), None),
        ],
    ),
    (
        "fr-oneline",
        r#"root@box:/etc/varnish# dd if=/dev/sdd1 of=~/AldaKey.img 15628288+0 enregistrements lus 15628288+0 enregistrements écrits 8001683456 octets (8,0 GB) copiés, 732,343 s, 10,9 MB/s

- **if** : (Input File)
"#,
        &[(Some(Write), 8001683456, Some(732.343), None)],
    ),
    (
        "fr-bench",
        r#"### Tests disques (sdb1) /data (2019/08/30)

```
Targetting /dev/sdb1, using /data/disk-test.tmp
---------------------------------------------
Flushing caches...
----- Write test...
100+0 enregistrements lus
100+0 enregistrements écrits
107374182400 octets (107 GB) copiés, 83,6633 s, 1,3 GB/s
Flushing caches...
----- Read test...
100+0 enregistrements lus
100+0 enregistrements écrits
107374182400 octets (107 GB) copiés, 77,2467 s, 1,4 GB/s
Flushing caches...
----- Raw read test...
Timing buffered disk reads: 4126 MB in 3.00 seconds = 1375.09 MB/sec
Done.
```
"#,
        &[
            (None, 107374182400, Some(83.6633), None),
            (None, 107374182400, Some(77.2467), None),
        ],
    ),
    (
        "pt-wcount",
        r#"At first the speed is 25 MB/s, then as the copy progresses it stabilized at about 4~5 MB/s. The file was 1GB in size.

```
me@box:~ $ dd if=/dev/zero count=102400w > /media/PEN_8G/testfile-100MB
104857600 bytes (105 MB) copiados, 6,9849 s, 15,0 MB/s

me@box:~ $ dd if=/dev/zero count=204800w > /media/PEN_8G/testfile-100MB
209715200 bytes (210 MB) copiados, 15,4733 s, 13,6 MB/s
```
"#,
        &[
            (Some(Write), 104857600, Some(6.9849), None),
            (Some(Write), 209715200, Some(15.4733), None),
        ],
    ),
    (
        "pt-folded",
        r#"I have done a test with some users account:

   me@box:~$ dd if=/dev/zero of=/home/C/stuff.bin bs=1024 count=1024 && rm /home/C/stuff.bin  
 1024+0 registos dentro  1024+0 registos fora  1048576 bytes (1,0 MB) copiados, 0,0147629 s, 71,0 MB/s   Strange only 71 MB/ s when both of the NIC are 1Gb/s
"#,
        &[(Some(Write), 1048576, Some(0.0147629), None)],
    ),
    (
        "zh-fullwidth",
        r#"dd if=/dev/zero of=bin/ucore.img count=10000
记录了10000+0 的读入
记录了10000+0 的写出
5120000字节（5.1 MB，4.9 MiB）已复制，0.0313203 s，163 MB/s
dd if=bin/bootblock of=bin/ucore.img conv=notrunc 
记录了1+0 的读入
记录了1+0 的写出
512字节已复制，0.000126482 s，4.0 MB/s
dd if=bin/kernel of=bin/ucore.img seek=1 conv=notrunc
记录了154+1 的读入
记录了154+1 的写出
78916字节（79 kB，77 KiB）已复制，0.000435106 s，181 MB/s  # done
"#,
        &[
            (Some(Write), 5120000, Some(0.0313203), None),
            (Some(Write), 512, Some(0.000126482), None),
            (Some(Write), 78916, Some(0.000435106), None),
        ],
    ),
    (
        "bb-enospc",
        r#"`busybox dd if=/dev/zero of=/dev/block/mmcblk0boot0`  
```
dd: writing '/dev/block/mmcblk0boot0': No space left on device
8193+0 records in
8192+0 records out
4194304 bytes (4.0MB) copied, 0.126209 seconds, 31.7MB/s
```
`busybox dd if=/dev/zero of=/dev/block/mmcblk0boot1`  
```
dd: writing '/dev/block/mmcblk0boot1': No space left on device
8193+0 records in
8192+0 records out
4194304 bytes (4.0MB) copied, 0.126298 seconds, 31.7MB/s
```
"#,
        &[
            (Some(Write), 4194304, Some(0.126209), None),
            (Some(Write), 4194304, Some(0.126298), None),
        ],
    ),
    (
        "subst-time",
        r#"  - First test with this speed : 
```
echo "8:0 20485760" > blkio.throttle.write_bps_device 
```
- In the container :
```
root@6767ba4a0051:/# time $(dd if=/dev/zero of=testfile0 bs=1000 count=100000 && sync)
100000+0 records in
100000+0 records out
100000000 bytes (100 MB) copied, 0.290006 s, 345 MB/s

real	0m5.305s
user	0m0.016s
sys	0m0.326s
```

-Let's divide the speed by two 
```
echo "8:0 10485760" > blkio.throttle.write_bps_device 
```
- In the same container :
```
time $(dd if=/dev/zero of=testfile0 bs=1000 count=100000 && sync)
100000+0 records in
100000+0 records out
100000000 bytes (100 MB) copied, 0.314431 s, 318 MB/s

real	0m9.907s
user	0m0.004s
sys	0m0.364s
```
"#,
        &[
            (Some(Write), 100000000, Some(0.290006), Some(5.305)),
            (Some(Write), 100000000, Some(0.314431), Some(9.907)),
        ],
    ),
    (
        "etch-seconds-errors",
        r#"dd: reading `/home/me/Documents/bcdl150z': Is a directory
0+0 records in
0+0 records out
0 bytes (0 B) copied, 0.000507604 seconds, 0.0 kB/s
me@box:/media$ sudo dd if=/home/me/bcdl150z.ima of=/floppy0
2880+0 records in
2880+0 records out
1474560 bytes (1.5 MB) copied, 0.0443526 seconds, 33.2 MB/s
me@box:/media$ sudo dd if=/home/me/bcdl150z.ima of=/media/floppy0
dd: opening `/media/floppy0': Is a directory
me@box:/media$ 
"#,
        &[
            (None, 0, Some(0.000507604), None),
            (Some(Write), 1474560, Some(0.0443526), None),
        ],
    ),
    (
        "quota",
        r#"        [me@localhost ~]$ dd if=/dev/zero of=/boot/t.txt bs=8M count=1
            dd: error writing ‘/boot/t.txt’: Disk quota exceeded             # 写入报错
            1+0 records in
            0+0 records out
            1048576 bytes (1.0 MB) copied, 0.00769123 s, 136 MB/s
        [me@localhost ~]$ exit
"#,
        &[(Some(Write), 1048576, Some(0.00769123), None)],
    ),
    (
        "go-comment-constraints",
        r#"// Sample run:
//
//   $ sudo go run test/job/blkiolimit/blkiolimit.go
//   Running Blkio test with no cgroup constraints
//   100000+0 records in
//   100000+0 records out
//   409600000 bytes (410 MB, 391 MiB) copied, 2.64543 s, 155 MB/s
//
//   Running Blkio test with cgroup constraints with 8:16 20971520
//   100000+0 records in
//   100000+0 records out
//   409600000 bytes (410 MB, 391 MiB) copied, 19.5119 s, 21.0 MB/s
"#,
        &[
            (None, 409600000, Some(2.64543), None),
            (None, 409600000, Some(19.5119), None),
        ],
    ),
    (
        "widths-commit",
        r#"1 byte io width (default):
 # dd if=/dev/mtdblock0 of=/dev/null bs=8192 count=1000
 1000+0 records in
 1000+0 records out
 8192000 bytes (7.8MB) copied, 1.368735 seconds, 5.7MB/s

4 bytes io width:
 # dd if=/dev/mtdblock0 of=/dev/null bs=8192 count=1000
 1000+0 records in
 1000+0 records out
 8192000 bytes (7.8MB) copied, 1.088787 seconds, 7.2MB/s

Improved by 26.3%!
"#,
        &[
            (Some(Read), 8192000, Some(1.368735), None),
            (Some(Read), 8192000, Some(1.088787), None),
        ],
    ),
    (
        "cut-awk-note",
        r#"#100+0 records in 100+0 records out 100000000 bytes (100 MB) cecho $DD_HUMANIZED
DD_OUTPUT=$(dd if=/dev/zero of=test.img bs=1000000 count=100 2>&1)
#100+0 records in 100+0 records out 100000000 bytes (100 MB) copied, 0.0450804 s, 2.2 GB/s
#echo $DD_OUTPUT
"#,
        &[(Some(Write), 100000000, Some(0.0450804), None)],
    ),
    (
        "set-x-plusplus",
        r#"++ sleep 1
++ mount
++ column -t
++ dd if=/dev/zero of=/mnt/backend/nvme1n1 count=2621440 bs=4096
2621440+0 records in
2621440+0 records out
10737418240 bytes (11 GB) copied, 33.6448 s, 319 MB/s
++ file /mnt/backend/nvme1n1
/mnt/backend/nvme1n1: data
"#,
        &[(Some(Write), 10737418240, Some(33.6448), None)],
    ),
    (
        "chat-eof-loop",
        r#"Mac first, then the NAS:

➜  ~ time (dd if=/dev/zero of=t bs=1m count=512; sync)
512+0 records in
512+0 records out
536870912 bytes transferred in 0.210467 secs (2550855345 bytes/sec)
( dd if=/dev/zero of=t bs=1m count=512; sync; )  0.00s user 0.13s system 41% cpu 0.317 total
"#,
        &[(Some(Write), 536870912, Some(0.210467), Some(0.317))],
    ),
    (
        "skylines-prompt-quote",
        r#"> root@Laptop:~# dd if=/dev/urandom of=tempfile count=100 bs=512k oflag=direct 
100+0 records in
100+0 records out
52428800 bytes (52 MB) copied, 7.16798 s, 7.3 MB/s
root@Laptop:~# hdparm --fibmap tempfile
"#,
        &[(Some(Write), 52428800, Some(7.16798), None)],
    ),
];

#[test]
fn every_paste_gives_its_figures_and_no_others() {
    for (name, text, rows) in PASTES {
        let log = Log::from_bytes(*name, text.as_bytes()).unwrap();
        let records = fio_parse::parse(&log).records;
        assert_eq!(records.len(), rows.len(), "{name}: {records:#?}");
        for (record, (direction, bytes, seconds, wall)) in records.iter().zip(*rows) {
            let measured = &record.measurement;
            if let Some(direction) = direction {
                assert_eq!(record.direction, *direction, "{name}");
            }
            let found = measured.bytes.as_ref().map(|bytes| bytes.lo().0);
            assert_eq!(found, Some(*bytes), "{name}");
            for (found, wanted) in [(&measured.runtime_ns, seconds), (&measured.wall_ns, wall)] {
                let ends = found
                    .as_ref()
                    .map(|time| (time.lo().get(), time.hi().get()));
                let fits = match (ends, wanted) {
                    (None, None) => true,
                    // half a unit of the last digit to both sides, so the text's own value is inside
                    (Some((lo, hi)), Some(wanted)) => {
                        let wanted = wanted * 1e9;
                        lo <= wanted * (1.0 + 1e-12) && wanted * (1.0 - 1e-12) <= hi
                    }
                    _ => false,
                };
                assert!(fits, "{name}: {ends:?} for {wanted:?}");
            }
        }
    }
}
